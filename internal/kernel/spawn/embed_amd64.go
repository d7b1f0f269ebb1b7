package spawn

import _ "embed"

//go:embed init/init_amd64
var initProgram []byte
