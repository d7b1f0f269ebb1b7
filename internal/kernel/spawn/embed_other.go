//go:build linux && !amd64 && !arm64

package spawn

var initProgram []byte
