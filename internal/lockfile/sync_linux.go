package lockfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncDisk waits until what was written to the file system of a directory is on its
// disk: what is kept must not lose its content with the power, and keep its name.
func SyncDisk(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
