package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/internal/server"
)

// socketPath is where programs of this machine find the server.
func socketPath() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && os.Geteuid() != 0 {
		return filepath.Join(dir, "sandbox-run.sock")
	}
	return "/run/sandbox-run/sock"
}

// listenUnix listens on the socket of this machine. It is nil when another server
// has it, or nothing can be made there: TCP is enough to serve.
func (d *Daemon) listenUnix(ctx context.Context) net.Listener {
	path := socketPath()
	l, err := unixListener(ctx, path)
	if err != nil {
		d.log.Info("no unix socket", "path", path, "reason", err.Error())
		return nil
	}
	return l
}

func unixListener(ctx context.Context, path string) (net.Listener, error) {
	dir, name := filepath.Split(path)
	root, err := passable(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Two that start at once would each take the other's for one of a server that was killed.
	unlock, err := lockDir(ctx, root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	dialer := net.Dialer{Timeout: time.Second}
	switch conn, err := dialer.DialContext(ctx, "unix", path); {
	case err == nil:
		_ = conn.Close()
		return nil, errors.New("another server has it")
	case errors.Is(err, unix.ECONNREFUSED):
		info, err := root.Lstat(name)
		if err == nil && info.Mode().Type() != fs.ModeSocket {
			err = errors.New("something that is no socket is there")
		}
		if err == nil {
			err = root.Remove(name) // of a server that was killed
		}
		if err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist): // such as a server that is too busy to take us
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	// Until then nobody but us may write to it, which is what talking takes.
	if err := root.Chmod(name, 0o660); err != nil {
		_ = l.Close()
		return nil, err
	}
	return peers{l}, nil
}

// lockDir locks a directory.
func lockDir(ctx context.Context, root *os.Root) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := lockfile.Wait(ctx, dir, true); err != nil {
		_ = dir.Close()
		return nil, err
	}
	return func() { _ = dir.Close() }, nil
}

// passable makes a directory that others may pass through to the socket, whose own
// mode says who may talk. As root it is the runtime's, made for root alone, whose
// files have modes of their own; a user's own is left as it is.
func passable(dir string) (*os.Root, error) {
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		err = root.Chmod(".", 0o711)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// peers is a listener whose connections tell by their remote address who has made them, which
// nobody takes from them who wraps them.
type peers struct{ net.Listener }

// Accept implements [net.Listener].
func (l peers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if c, ok := conn.(*net.UnixConn); ok && err == nil {
		if uid, err := peer(c); err == nil { // without a peer it needs a key like any other
			return peered{conn, peerAddr{conn.RemoteAddr(), uid}}, nil
		}
	}
	return conn, err
}

type peered struct {
	net.Conn
	from peerAddr
}

// RemoteAddr implements [net.Conn].
func (c peered) RemoteAddr() net.Addr { return c.from }

// peerAddr is where a user of this machine has connected from.
type peerAddr struct {
	net.Addr
	uid uint32
}

// withPeer adds to the context of a connection over the unix socket who has made
// it, as the kernel says.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if from, ok := conn.RemoteAddr().(peerAddr); ok {
		return server.WithPeer(ctx, from.uid)
	}
	return ctx
}

func peer(c *net.UnixConn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, fmt.Errorf("SO_PEERCRED: %w", failed)
	}
	return cred.Uid, nil
}
