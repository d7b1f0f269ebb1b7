//go:build unix

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// lockFile holds a lock of this name until unlock is called. It waits for others
// until ctx is done.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	if err := lockfile.Wait(ctx, f, true); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	return func() { f.Close() }, nil
}

// lockDir locks a directory, alone or shared with others, if that can be done at
// once. Who holds it alone may remove it.
func lockDir(dir string, alone bool) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err = lockfile.Try(f, alone); err == nil {
		err = stillNamed(f, dir)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

// stillNamed makes sure that a file was not removed, or replaced, before it was
// locked.
func stillNamed(f *os.File, name string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(name)
	if err == nil && !os.SameFile(opened, named) {
		err = os.ErrNotExist
	}
	return err
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isTransient tells failures that may be gone at the next try.
func isTransient(err error) bool {
	for _, passing := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.ENFILE, syscall.EMFILE, syscall.ENOSPC, syscall.EBUSY, context.DeadlineExceeded} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
