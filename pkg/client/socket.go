package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
)

// dialSocket connects to a unix socket and asks the kernel who serves it. The
// owner of the file would say less: it may be another one by now.
func dialSocket(ctx context.Context, dialer *net.Dialer, path string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	uid, err := peerUID(socket)
	if err == nil && !trusted(uid, os.Geteuid()) {
		err = fmt.Errorf("%w: uid %d is neither yours nor root's", ErrUntrusted, uid)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func trusted(uid uint32, own int) bool { return uid == 0 || int64(uid) == int64(own) }

// SocketURL is the URL of a server on a unix socket.
func SocketURL(path string) string { return (&url.URL{Scheme: "unix", Path: path}).String() }

// SocketTransport carries requests to a unix socket, and refuses one that neither
// the caller's own user nor root serves.
func SocketTransport(path string) *http.Transport { return transport(path) }
