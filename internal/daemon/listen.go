package daemon

import (
	"errors"
	"net"
	"slices"
	"syscall"

	"golang.org/x/net/netutil"
)

// maxConnections is how many connections a listener has at a time: a connection takes 14 KiB of
// the server's memory (make hostile, G2), so that all of them take some 230 MiB.
const maxConnections = 16384

// listener is what the server accepts from: at most so many connections at a time, and in all
// no more than half of the files that the server may open, of which runs need some too. Those
// above that wait in the kernel's queue until another is closed, as every one is that says
// nothing for long.
func listener(l net.Listener, most int) net.Listener {
	if files := int(openFiles()); files > 0 {
		most = min(most, files/4) // there are two listeners
	}
	return patient{netutil.LimitListener(l, most)}
}

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
