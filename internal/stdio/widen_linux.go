package stdio

import (
	"io"
	"syscall"
)

// wide is what a pipe holds whose program writes much: it goes on writing while we pass on
// what it has written before.
const wide = 4 * size

// widen makes a pipe hold more. It does as well without: the kernel grants a user only so much.
func widen(pipe io.Reader) {
	const setPipeSize = 1031 // F_SETPIPE_SZ, fcntl(2)
	if f, ok := pipe.(syscall.Conn); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, wide) })
		}
	}
}
