package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try takes a lock, alone or shared with others, if that can be done at once.
func Try(f *os.File, alone bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = ErrHeld
	}
	return os.NewSyscallError("LockFileEx", err)
}
