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

// syncDisk waits until all that was written to the file system of f is on its
// disk: an image that has a digest for a name must not lose what is in it with
// the power.
func syncDisk(f *os.File) error {
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
