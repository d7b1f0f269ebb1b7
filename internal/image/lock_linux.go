package image

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a lock that somebody else holds is tried again: a
// blocking flock(2) cannot be called off.
const lockPoll = 50 * time.Millisecond

// supported tells that this system has what the store needs.
func supported() error { return nil }

// tryLock takes a lock, alone or shared with others, if that can be done at once.
// Closing the file gives it back, and so does the end of the process.
func tryLock(f *os.File, alone bool) (bool, error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}

// waitLock takes a lock, and waits for it until ctx is done.
func waitLock(ctx context.Context, f *os.File, alone bool) error {
	for {
		if taken, err := tryLock(f, alone); taken || err != nil {
			return err
		}
		timer := time.NewTimer(lockPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// syncDisk waits until all that was written to the file system of f is on its
// disk: an image that has a digest for a name must not lose what is in it with
// the power.
func syncDisk(f *os.File) error {
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
