//go:build unix

package lockfile

import (
	"os"
	"syscall"
)

// Try takes a lock, alone or shared with others, if that can be done at once.
func Try(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB))
}
