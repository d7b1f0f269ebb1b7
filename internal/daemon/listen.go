package daemon

import (
	"errors"
	"net"
	"slices"
	"syscall"
)

// patient is a listener that is not given up when one connection cannot be accepted.
// net/http tries again after a moment, but only after errors that call themselves
// temporary, and of a lack of memory the standard library says nothing of the kind.
type patient struct{ net.Listener }

// passing are the errors of accept(2) that tell of one connection, or of this moment.
var passing = []syscall.Errno{
	syscall.ENOMEM, syscall.ENOBUFS, syscall.ENOSPC, syscall.EPERM, syscall.EPROTO, // ENOSPC: of epoll_ctl(2), for the new one
	syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}

// Accept implements [net.Listener].
func (l patient) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if errno, ok := errors.AsType[syscall.Errno](err); ok && slices.Contains(passing, errno) {
		return nil, temporary{err}
	}
	return conn, err
}

// temporary is a [net.Error] after which to accept again.
type temporary struct{ error }

func (temporary) Timeout() bool   { return false }
func (temporary) Temporary() bool { return true }
func (t temporary) Unwrap() error { return t.error }
