package landlock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ABI asks the running kernel for the version of its Landlock: 1 or more. It
// fails where there is none, or where somebody's filter keeps it from us.
func ABI() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(version), nil
	case unix.ENOSYS:
		return 0, fmt.Errorf("landlock: %w: the kernel was built without it, or a seccomp filter hides it", errno)
	case unix.EOPNOTSUPP:
		return 0, fmt.Errorf("landlock: %w: it is switched off: add landlock to the lsm= list of the kernel's command line", errno)
	}
	return 0, fmt.Errorf("landlock: cannot ask the kernel for its version: %w", errno)
}
