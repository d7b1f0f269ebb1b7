package image

import (
	"os"

	"golang.org/x/sys/unix"
)

// supported tells that this system has what the store needs.
func supported() error { return nil }

// unlock gives a lock back, whoever else has the file.
func unlock(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
