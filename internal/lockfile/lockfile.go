// Package lockfile locks files for processes that know nothing of each other, and has
// what they share be on the disk before it gets the name by which it is trusted.
// Closing the file gives a lock back, and so does the end of the process, whatever
// ended it.
package lockfile

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrHeld means that somebody else holds the lock. It is an errno of those after
// which one tries again.
const ErrHeld = syscall.EWOULDBLOCK

// poll is how often a lock that somebody else holds is tried again: a blocking
// flock(2) cannot be called off.
const poll = 20 * time.Millisecond

// Wait takes a lock like [Try], and waits for it until ctx is done.
func Wait(ctx context.Context, f *os.File, alone bool) error {
	for {
		if err := Try(f, alone); !errors.Is(err, ErrHeld) {
			return err
		}
		timer := time.NewTimer(poll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
