package spawn

import _ "embed"

//go:embed init/init_arm64
var initProgram []byte

//go:embed init/ancestor_arm64.so
var ancestorLibrary []byte
