package stdio

import (
	"io"
	"sync/atomic"
	"syscall"
)

// wide is what a pipe holds whose program writes much: it goes on writing while we pass on
// what it has written before.
const wide = 4 * size

// widest is how many pipes may be wide at a time. The kernel grants a user who is not root so
// much memory for pipes, 64 MiB, before it makes each new one small.
const widest = 64

var widened atomic.Int32

// widen makes a pipe hold more for as long as it is read, if not too many do. It does as well
// without.
func widen(pipe io.Reader) (done func()) {
	if widened.Add(1) > widest {
		widened.Add(-1)
		return func() {}
	}
	const setPipeSize = 1031 // F_SETPIPE_SZ, fcntl(2)
	if f, ok := pipe.(syscall.Conn); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, wide) })
		}
	}
	return func() { widened.Add(-1) }
}
