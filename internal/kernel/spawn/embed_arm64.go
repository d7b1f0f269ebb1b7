package spawn

import _ "embed"

//go:embed init/init_arm64
var initProgram []byte
