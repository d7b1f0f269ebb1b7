package kept

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
)

// openFlags keep an open from waiting for who writes to a FIFO.
const openFlags = unix.O_NONBLOCK | unix.O_NOFOLLOW

// removeTree removes what a program has made.
func removeTree(dir string) error { return instance.RemoveTree(dir) }

// syncDisk waits until what was written to the file system of a directory is on its
// disk: what is kept must not lose its content with the power, and keep its name.
func syncDisk(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
