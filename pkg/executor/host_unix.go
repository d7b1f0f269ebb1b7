//go:build unix

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a lock that somebody else holds is tried again: a
// blocking flock(2) cannot be called off. What is waited for takes seconds.
const lockPoll = 20 * time.Millisecond

// lockFile holds a lock of this name until unlock is called. It waits for others
// until ctx is done.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = sleep(ctx, lockPoll)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock the cache: %w", err)
		}
	}
}

// lockDir locks a directory, alone or shared with others, if that can be done at
// once. Who holds it alone may remove it.
func lockDir(dir string, alone bool) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	if err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err == nil {
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

// sleep waits, but not longer than ctx lasts.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
