//go:build !linux

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// supported tells that this system has what the store needs.
func supported() error {
	return fmt.Errorf("images are unpacked on Linux only, this is %s: use a sandbox-server on a Linux machine: %w", runtime.GOOS, errors.ErrUnsupported)
}

func tryLock(*os.File, bool) (bool, error) { return false, supported() }

func waitLock(context.Context, *os.File, bool) error { return supported() }

func syncDisk(*os.File) error { return supported() }
