//go:build !amd64 && !arm64

package spawn

var initProgram, ancestorLibrary []byte
