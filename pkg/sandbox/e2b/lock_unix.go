//go:build unix

package e2b

import (
	"os"
	"syscall"
)

// lockNew makes a file and holds it.
func lockNew(name string) (*os.File, error) {
	return lock(name, os.O_CREATE|os.O_EXCL|os.O_RDWR)
}

// lockDead takes a file that nobody holds any more.
func lockDead(name string) (*os.File, error) { return lock(name, os.O_RDWR) }

func lock(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
