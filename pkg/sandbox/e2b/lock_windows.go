package e2b

import (
	"os"

	"golang.org/x/sys/windows"
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
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
