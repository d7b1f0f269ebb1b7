package spawn

import _ "embed"

//go:embed init/init_amd64
var initProgram []byte

//go:embed init/ancestor_amd64.so
var ancestorLibrary []byte
