//go:build !linux

package image

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// supported tells that this system has what the store needs.
func supported() error {
	return fmt.Errorf("images are unpacked on Linux only, this is %s: use a sandbox-server on a Linux machine: %w", runtime.GOOS, errors.ErrUnsupported)
}

func unlock(*os.File) error { return supported() }
