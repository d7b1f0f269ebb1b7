package local

import (
	"context"
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

// connection is what leads one process out. It is a relay of its own, so that
// nothing of one phase (an open connection, a name, a line of the report) is the
// next one's; nil where nothing leads out.
type connection struct {
	network *network
	relay   *relay.Relay
	watch   watch
}

// connect starts the relay of a process. Where its policy opens nothing, the
// relay refuses whatever comes.
func (c *container) connect(ctx context.Context, p sandbox.Process, policy sandbox.NetworkPolicy) (_ *connection, err error) {
	if c.network == nil {
		return nil, nil
	}
	config := relay.Config{Policy: c.network.policy, Resolver: c.rt.options.Resolver}
	if p.Network != nil {
		if config.Policy, err = c.network.narrow(policy); err != nil {
			return nil, err
		}
	}
	if policy.HostProxy {
		config.Proxy = c.rt.options.Proxy
	}
	conn := &connection{network: c.network, relay: relay.New(context.WithoutCancel(ctx), config)}
	if err := conn.serve(); err != nil {
		conn.relay.Close()
		return nil, err
	}
	return conn, nil
}

// narrow is a process's policy, which must lie within the container's.
func (n *network) narrow(p sandbox.NetworkPolicy) (*relay.Policy, error) {
	policy, err := relayPolicy(p)
	if err != nil {
		return nil, err
	}
	own, err := relay.HostAddresses()
	if err != nil {
		return nil, err
	}
	if err := policy.Within(n.policy, own); err != nil {
		return nil, fmt.Errorf("the process's network is wider than its container's: %w", err)
	}
	return policy, nil
}

// serve hands the container's sockets to the relay. It closes copies of them.
func (c *connection) serve() error {
	for i, socket := range c.network.sockets {
		f, err := duplicate(socket)
		if err != nil {
			return err
		}
		if i == 0 {
			udp, err := netns.UDPConn(f)
			if err != nil {
				return fmt.Errorf("serve names: %w", err)
			}
			c.relay.ServeUDP(udp)
			continue
		}
		l, err := netns.Listener(f)
		if err != nil {
			return fmt.Errorf("serve connections: %w", err)
		}
		c.relay.Serve(watchedListener{l, &c.watch})
	}
	return nil
}

func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copy a socket: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// end closes the relay of a process that has ended, with all that it started,
// and tells what it did.
func (c *connection) end(exit *sandbox.Exit) {
	if c == nil {
		return
	}
	c.relay.Close()
	report := c.relay.Report()
	exit.Violations = append(exit.Violations, report.Violations...)
	exit.Network = sandbox.NetworkUse{
		Connections: report.Connections, BytesSent: report.BytesSent, BytesReceived: report.BytesReceived,
		Queries: report.Queries, Failures: report.Failures,
	}
	refused, err := c.network.refused()
	if err != nil {
		exit.Network.Failures = append(exit.Network.Failures, "what the kernel refused cannot be told: "+err.Error())
	}
	exit.Violations = append(exit.Violations, refused...)
}

// abandon closes the relay of a process that did not start.
func (c *connection) abandon() {
	if c != nil {
		c.relay.Close()
	}
}

// refused are lines about what the kernel has refused since the process before.
func (n *network) refused() (lines []string, err error) {
	if n.filter == nil {
		return nil, nil
	}
	list, err := netns.Refused(n.filter)
	for _, r := range list {
		if !n.told[r] {
			n.told[r] = true
			lines = append(lines, r.String()+" refused: only TCP and name queries leave the sandbox")
		}
	}
	slices.Sort(lines)
	return lines, err
}

// What a program has sent when it ends is still carried, like what is in its
// pipes: its connections are made by us, after its own call has returned. And
// what it has tried in its last moment is still refused, and told.
const (
	settleAtMost = 500 * time.Millisecond
	settleEvery  = time.Millisecond
	// settleQuiet is how long ago the last connection was accepted.
	settleQuiet = 5 * time.Millisecond
)

// settle waits until the relay has taken everything that the program has sent,
// for a while.
func (c *connection) settle() {
	if c == nil {
		return
	}
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for end := time.Now().Add(settleAtMost); !c.settled() && time.Now().Before(end); {
		<-tick.C
	}
}

func (c *connection) settled() bool {
	for i, socket := range c.network.sockets {
		if i == 0 && unread(int(socket.Fd())) {
			return false
		}
		info, err := unix.GetsockoptTCPInfo(int(socket.Fd()), unix.IPPROTO_TCP, unix.TCP_INFO)
		// Of a listener, tcpi_unacked are those that wait to be accepted.
		if i > 0 && err == nil && info.Unacked > 0 {
			return false
		}
	}
	return c.watch.settled()
}

func unread(fd int) bool {
	n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
	return err == nil && n > 0
}

// watchedListener has a watch on what it accepts. What it returns is the plain
// connection, whose bytes can stay in the kernel.
type watchedListener struct {
	net.Listener
	watch *watch
}

// Accept implements [net.Listener].
func (l watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.watch.add(conn)
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
