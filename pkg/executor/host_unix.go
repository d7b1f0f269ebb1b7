//go:build unix

package executor

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile holds a lock of this name until unlock is called.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	return func() { f.Close() }, nil
}

// takeOver makes us the owner of a file, never of what a link points to.
func takeOver(root *os.Root, name string) error {
	return root.Lchown(name, os.Geteuid(), os.Getegid())
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isTransient tells failures that may be gone at the next try.
func isTransient(err error) bool {
	for _, errno := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.ENFILE, syscall.EMFILE, syscall.ENOSPC, syscall.EBUSY} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
