package outlet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Connection is what leads one process out. It is a relay of its own, so that
// nothing of one phase (an open connection, a name, a line of the report) is the
// next one's; nil where nothing leads out.
type Connection struct {
	// Relay also carries what others than the outlet's sockets have accepted.
	Relay  *relay.Relay
	outlet *Outlet
	watch  watch
}

// Connect starts the relay of a process. own is its normal policy, which must lie
// within the container's; nil means that one. Where a policy opens nothing, the relay
// refuses whatever comes.
func (o *Outlet) Connect(ctx context.Context, own *sandbox.NetworkPolicy) (_ *Connection, err error) {
	config := relay.Config{Policy: o.policy, Resolver: o.options.Resolver}
	hostProxy := o.own.HostProxy
	if own != nil {
		if config.Policy, err = o.narrow(*own); err != nil {
			return nil, err
		}
		hostProxy = own.HostProxy
	}
	if hostProxy {
		config.Proxy = o.options.Proxy
	}
	c := &Connection{outlet: o, Relay: relay.New(context.WithoutCancel(ctx), config)}
	if err := c.serve(); err != nil {
		c.Relay.Close()
		return nil, err
	}
	return c, nil
}

// narrow is a process's policy, which must lie within the container's.
func (o *Outlet) narrow(p sandbox.NetworkPolicy) (*relay.Policy, error) {
	policy, err := parse(p)
	if err != nil {
		return nil, err
	}
	own, err := relay.HostAddresses()
	if err != nil {
		return nil, err
	}
	if err := policy.Within(o.policy, own); err != nil {
		return nil, fmt.Errorf("the process's network is wider than its container's: %w", err)
	}
	return policy, nil
}

// serve hands the container's sockets to the relay. It closes copies of them.
func (c *Connection) serve() error {
	for i, socket := range c.outlet.sockets {
		if err := empty(socket, i > 0); err != nil {
			return fmt.Errorf("empty a socket: %w", err)
		}
		f, err := duplicate(socket)
		if err != nil {
			return err
		}
		if i == 0 {
			udp, err := netns.UDPConn(f)
			if err != nil {
				return fmt.Errorf("serve names: %w", err)
			}
			c.Relay.ServeUDP(udp)
			continue
		}
		l, err := netns.Listener(f)
		if err != nil {
			return fmt.Errorf("serve connections: %w", err)
		}
		c.Relay.Serve(watchedListener{l, c})
	}
	return nil
}

// empty takes what an earlier process has left at a socket, unless it was taken in time: it was
// meant for another relay. What keeps it from that keeps the process from being started.
func empty(socket *os.File, listens bool) error {
	return control(socket, func(fd int) error {
		for {
			ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			if err == nil && ready == 0 {
				return nil
			}
			if err == nil && listens {
				var conn int
				if conn, _, err = unix.Accept4(fd, unix.SOCK_CLOEXEC); err == nil {
					err = unix.Close(conn)
				}
			} else if err == nil {
				_, _, err = unix.Recvfrom(fd, nil, unix.MSG_DONTWAIT)
			}
			if err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ECONNABORTED) {
				return err
			}
		}
	})
}

func duplicate(f *os.File) (*os.File, error) {
	var copied int
	err := control(f, func(fd int) (err error) {
		copied, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("copy a socket: %w", err)
	}
	return os.NewFile(uintptr(copied), f.Name()), nil
}

// control has something done with a descriptor that stays open meanwhile. A file that
// is closed is an error.
func control(f syscall.Conn, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if outer := raw.Control(func(fd uintptr) { err = do(int(fd)) }); outer != nil {
		return outer
	}
	return err
}

// End closes the relay of a process that has ended, with all that it started, and
// tells what it did.
func (c *Connection) End(exit *sandbox.Exit) {
	if c == nil {
		return
	}
	c.Relay.Close()
	report := c.Relay.Report()
	exit.Violations = append(exit.Violations, report.Violations...)
	exit.Network = sandbox.NetworkUse{
		Connections: report.Connections, BytesSent: report.BytesSent, BytesReceived: report.BytesReceived,
		Queries: report.Queries, Failures: report.Failures,
	}
	refused, err := c.outlet.refused()
	if err != nil {
		exit.Network.Failures = append(exit.Network.Failures, "what the kernel refused cannot be told: "+err.Error())
	}
	exit.Violations = append(exit.Violations, refused...)
}

// Abandon closes the relay of a process that did not start.
func (c *Connection) Abandon() {
	if c != nil {
		c.Relay.Close()
	}
}

// What a program has sent when it ends is still carried, like what is in its
// pipes: its connections are made by us, after its own call has returned. And
// what it has tried in its last moment is still refused, and told.
const (
	settleAtMost = 2 * time.Second
	settleEvery  = time.Millisecond
	// settleStuck is how long nothing may have been accepted while something waits.
	settleStuck = 500 * time.Millisecond
	// settleQuiet is how long ago the last connection must have been accepted.
	settleQuiet = 5 * time.Millisecond
)

// Settle waits until the relay has taken everything that the program has sent,
// for a while.
func (c *Connection) Settle() {
	if c == nil {
		return
	}
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	begun := time.Now()
	for !c.settled() && time.Since(begun) < settleAtMost && (time.Since(begun) < settleStuck || c.watch.quiet() < settleStuck) {
		<-tick.C
	}
}

func (c *Connection) settled() bool {
	for i, socket := range c.outlet.sockets {
		waits := false
		_ = control(socket, func(fd int) error { // closed by now: nothing waits
			if i == 0 {
				waits = unread(fd)
				return nil
			}
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			// Of a listener, tcpi_unacked are those that wait to be accepted.
			waits = err == nil && info.Unacked > 0
			return nil
		})
		if waits {
			return false
		}
	}
	return c.watch.settled() && !c.Relay.Sending()
}

func unread(fd int) bool {
	n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
	return err == nil && n > 0
}

// Watch has [Connection.Settle] wait for what this connection still holds.
func (c *Connection) Watch(conn net.Conn) { c.watch.add(conn) }

// watchedListener has a watch on what it accepts. What it returns is the plain
// connection, whose bytes can stay in the kernel.
type watchedListener struct {
	net.Listener
	of *Connection
}

// Accept implements [net.Listener].
func (l watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.of.Watch(conn)
	}
	return conn, err
}

// watch remembers the connections of a process.
type watch struct {
	mu    sync.Mutex
	conns []syscall.RawConn // those that may still be open
	last  time.Time
}

func (w *watch) add(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	if s, ok := conn.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			w.forgetClosed()
			w.conns = append(w.conns, raw)
		}
	}
}

// quiet is how long ago the last connection was accepted.
func (w *watch) quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// forgetClosed is called with mu held.
func (w *watch) forgetClosed() {
	w.conns = slices.DeleteFunc(w.conns, func(c syscall.RawConn) bool { return c.Control(func(uintptr) {}) != nil })
}

func (w *watch) settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgetClosed()
	return time.Since(w.last) >= settleQuiet && !slices.ContainsFunc(w.conns, func(c syscall.RawConn) (waits bool) {
		_ = c.Control(func(fd uintptr) { waits = unread(int(fd)) }) // closed by now: nothing waits
		return waits
	})
}
