package local

import "golang.org/x/sys/unix"

// olderAttributeCalls are those that newer architectures do without.
var olderAttributeCalls = map[int]attributeCall{
	unix.SYS_CHMOD:     {dir: none, path: 0, flags: none, change: changeMode(1)},
	unix.SYS_CHOWN:     {dir: none, path: 0, flags: none, change: changeOwner(1)},
	unix.SYS_LCHOWN:    {dir: none, path: 0, flags: none, nofollow: true, change: changeOwner(1)},
	unix.SYS_UTIME:     {dir: none, path: 0, flags: none, change: changeTimes(1, timeFormat{numbers: 1})},
	unix.SYS_UTIMES:    {dir: none, path: 0, flags: none, change: changeTimes(1, timeval)},
	unix.SYS_FUTIMESAT: {dir: 0, path: 1, flags: none, change: changeTimes(2, timeval)},
}

var timeval = timeFormat{numbers: 2, unit: 1000}
