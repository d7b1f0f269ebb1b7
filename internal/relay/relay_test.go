package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// book is a resolver that knows these names alone, and counts.
type book struct {
	names map[string]string
	mu    sync.Mutex
	asked []string
}

func (b *book) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	b.mu.Lock()
	b.asked = append(b.asked, host)
	text, ok := b.names[strings.TrimSuffix(host, ".")]
	b.mu.Unlock()
	switch {
	case !ok:
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case text == "broken":
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	}
	var list []netip.Addr
	for _, a := range strings.Fields(text) {
		list = append(list, netip.MustParseAddr(a))
	}
	return list, nil
}

func (b *book) set(host, addresses string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[host] = addresses
}

// rig is a relay with a listener; to is what every connection to it is meant for.
type rig struct {
	t  testing.TB
	r  *Relay
	l  net.Listener
	to atomic.Value // netip.AddrPort
}

func newRig(t testing.TB, config Config) *rig {
	t.Helper()
	b := &rig{t: t}
	config.Destination = func(net.Conn) (netip.AddrPort, error) { return b.to.Load().(netip.AddrPort), nil }
	b.r = New(t.Context(), config)
	t.Cleanup(b.r.Close)
	b.l = listen(t)
	b.r.Serve(b.l)
	return b
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func portOf(l interface{ Addr() net.Addr }) uint16 { return uint16(l.Addr().(*net.TCPAddr).Port) }

// deaf has a port on which nobody listens. It keeps the port: one that is free
// again may be the next that somebody gets, the relay itself as well.
type deaf struct{ at *net.TCPAddr }

func (d deaf) Addr() net.Addr { return d.at }

func newDeaf(t *testing.T) deaf {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	at := name.(*syscall.SockaddrInet4)
	return deaf{&net.TCPAddr{IP: at.Addr[:], Port: at.Port}}
}

// dial is a program's connection to an address, or to a name that it asks for;
// nil when it was reset before it was there.
func (b *rig) dial(host string, port uint16) *net.TCPConn {
	b.t.Helper()
	address, err := netip.ParseAddr(host)
	if err != nil {
		what := b.r.inside(b.t.Context(), host)
		if len(what.addresses) != 1 {
			b.t.Fatalf("%s: %v", host, what)
		}
		address = what.addresses[0]
	}
	b.to.Store(netip.AddrPortFrom(address, port))
	conn, err := net.Dial("tcp", b.l.Addr().String())
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn.(*net.TCPConn)
}

// refused waits until a connection is reset and returns what the relay tells.
func (b *rig) refused(conn *net.TCPConn) Report {
	b.t.Helper()
	if conn != nil {
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			b.t.Errorf("%v, want a reset", err)
		}
	}
	return b.r.Report()
}

// serve has a server do something with each connection.
func serve(t testing.TB, do func(conn *net.TCPConn)) net.Listener {
	l := listen(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				do(conn.(*net.TCPConn))
			}()
		}
	}()
	return l
}

func echo(conn *net.TCPConn) { io.Copy(conn, conn) }

// open is a policy in which a name leads to a server on this host.
func open(t testing.TB, l interface{ Addr() net.Addr }) Config {
	port := portOf(l)
	return Config{
		Policy:   mustParse(t, Rules{Allow: []string{fmt.Sprintf("server.test:%d", port), fmt.Sprintf("127.0.0.1:%d", port)}}),
		Resolver: &book{names: map[string]string{"server.test": "127.0.0.1"}},
	}
}

// Both ends can say that they are done while the other still speaks.
func TestHalfClose(t *testing.T) {
	server := serve(t, func(conn *net.TCPConn) {
		heard, err := io.ReadAll(conn) // until the program is done
		fmt.Fprintf(conn, "%d bytes, %v", len(heard), err)
	})
	b := newRig(t, open(t, server))
	conn := b.dial("server.test", portOf(server))
	conn.Write(make([]byte, 300_000))
	conn.CloseWrite()
	if got, err := io.ReadAll(conn); string(got) != "300000 bytes, <nil>" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	b.r.Close()
	report := b.r.Report()
	if report.BytesSent != 300_000 || report.BytesReceived != 19 || report.Connections != 1 || len(report.Violations)+len(report.Failures) > 0 {
		t.Errorf("%+v", report)
	}
}

func TestEcho(t *testing.T) {
	server := serve(t, echo)
	b := newRig(t, open(t, server))
	conn := b.dial("server.test", portOf(server))
	sent := bytes.Repeat([]byte("0123456789"), 200_000)
	go func() {
		conn.Write(sent)
		conn.CloseWrite()
	}()
	if got, err := io.ReadAll(conn); !bytes.Equal(got, sent) || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
}

// A download that broke off does not look like one that is complete, and an
// upload neither.
func TestBrokenOff(t *testing.T) {
	heard := make(chan error, 1)
	server := serve(t, func(conn *net.TCPConn) {
		fmt.Fprint(conn, "half")
		_, err := conn.Read(make([]byte, 1))
		if err == nil {
			conn.SetLinger(0) // reset
		}
		heard <- err
	})
	b := newRig(t, open(t, server))
	conn := b.dial("server.test", portOf(server))
	if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	conn.Write([]byte("x"))
	if _, err := io.ReadAll(conn); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the program hears %v", err)
	}
	<-heard
	conn = b.dial("server.test", portOf(server))
	if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	conn.SetLinger(0)
	conn.Close()
	if err := <-heard; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server hears %v", err)
	}
}

func TestRefusals(t *testing.T) {
	server := serve(t, echo)
	port := portOf(server)
	config := open(t, server)
	names := &book{names: map[string]string{"server.test": "127.0.0.1", "other.test": "127.0.0.1", "mapped.test": "::ffff:127.0.0.1", "both.test": "10.0.0.1 127.0.0.1"}}
	config.Resolver = names
	config.Policy = mustParse(t, Rules{Allow: []string{fmt.Sprintf("server.test:%d", port), "other.test", "mapped.test", "both.test", "93.184.216.34:80"}})
	b := newRig(t, config)
	for _, c := range []struct {
		host string
		port uint16
		want string
	}{
		{"93.184.216.34", 443, "connection to 93.184.216.34:443 refused: the address is not in the allow-list"},
		{"::ffff:10.0.0.1", 443, "connection to 10.0.0.1:443 refused: 10.0.0.1 is in a private network"},
		{"127.0.0.1", port, "127.0.0.1 is this host's loopback"},
		{"198.18.200.200", 80, "no name has this address"},
		{"server.test", port + 1, "the allow-list has other ports of it"},
		{"server.test", port, "its address is this host's loopback"},
		{"other.test", port, "connection to other.test:%d refused: its address is this host's loopback; to allow it, name the address itself"},
		{"mapped.test", port, "its address is this host's loopback"},
		{"both.test", port, "its address is in a private network"},
	} {
		want := strings.Replace(c.want, "%d", fmt.Sprint(port), 1)
		report := b.refused(b.dial(c.host, c.port))
		if len(report.Violations) != 1 || !strings.Contains(report.Violations[0], want) || len(report.Failures) > 0 || report.Connections != 0 {
			t.Errorf("%s:%d: %+v, want %q", c.host, c.port, report, want)
		}
	}
}

// A name that gets another address after it was allowed is checked again.
func TestRebinding(t *testing.T) {
	server := serve(t, echo)
	names := &book{names: map[string]string{"server.test": "93.184.216.34"}}
	b := newRig(t, Config{Policy: mustParse(t, Rules{Full: true}), Resolver: names})
	b.r.inside(t.Context(), "server.test")
	names.set("server.test", "127.0.0.1")
	b.r.names.find("server.test").keep(nil) // as after answerLife
	report := b.refused(b.dial("server.test", portOf(server)))
	if len(report.Violations) != 1 || !strings.Contains(report.Violations[0], "this host's loopback") {
		t.Errorf("%+v", report)
	}
}

// What is allowed and does not work is no violation, and the program does not
// wait for it either.
func TestFailures(t *testing.T) {
	nobody := newDeaf(t)
	port := portOf(nobody)
	config := open(t, nobody)
	b := newRig(t, config)
	report := b.refused(b.dial("server.test", port))
	if want := fmt.Sprintf("connection to server.test:%d failed: connect: connection refused", port); !slices.Equal(report.Failures, []string{want}) || len(report.Violations) > 0 {
		t.Errorf("%+v", report)
	}
	config.Resolver.(*book).set("server.test", "broken")
	b.r.names.find("server.test").keep(nil)
	report = b.refused(b.dial("server.test", port))
	if len(report.Failures) != 1 || !strings.HasSuffix(report.Failures[0], "failed: the resolver has failed") {
		t.Errorf("%+v", report)
	}
	config.Resolver.(*book).set("server.test", "")
	report = b.refused(b.dial("server.test", port))
	if len(report.Failures) != 1 || !strings.Contains(report.Failures[0], "no address") {
		t.Errorf("%+v", report)
	}
}

// What is told of a resolver does not name it.
func TestReasons(t *testing.T) {
	server := &net.OpError{Op: "read", Net: "udp", Err: os.ErrDeadlineExceeded,
		Source: &net.UDPAddr{IP: net.IPv4(10, 0, 3, 7), Port: 40112}, Addr: &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 53}}
	for want, err := range map[string]*net.DNSError{
		"no such host":                          {Err: "no such host", IsNotFound: true},
		"the resolver has not answered in time": {Err: server.Error(), IsTimeout: true},
		"the resolver has failed":               {Err: server.Error(), IsTemporary: true},
	} {
		if got := reason(err); got != want {
			t.Errorf("%v is told as %q, want %q", err, got, want)
		}
	}
}

// A refusal is told rather than a failure: somebody can do something about it.
func TestFailureAndRefusal(t *testing.T) {
	nobody := newDeaf(t)
	port := portOf(nobody)
	config := open(t, nobody)
	config.Resolver.(*book).set("server.test", "127.0.0.1 10.0.0.1")
	b := newRig(t, config)
	report := b.refused(b.dial("server.test", port))
	if len(report.Violations) != 1 || !strings.Contains(report.Violations[0], "its address is in a private network") || len(report.Failures) > 0 {
		t.Errorf("%+v", report)
	}
}

// The next address is tried when one does not answer.
func TestSecondAddress(t *testing.T) {
	server := serve(t, echo)
	config := open(t, server)
	config.Resolver.(*book).set("server.test", "::1 10.0.0.1 127.0.0.1")
	b := newRig(t, config)
	conn := b.dial("server.test", portOf(server))
	conn.Write([]byte("x"))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

func TestMaxConnections(t *testing.T) {
	server := serve(t, echo)
	config := open(t, server)
	config.MaxConnections = 2
	b := newRig(t, config)
	var conns []*net.TCPConn
	for range 2 {
		conn := b.dial("server.test", portOf(server))
		conn.Write([]byte("x"))
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	report := b.refused(b.dial("server.test", portOf(server)))
	if !slices.Equal(report.Violations, []string{"connection refused: 2 are open already, the most at once"}) {
		t.Errorf("%+v", report)
	}
	conns[0].CloseWrite()
	io.ReadAll(conns[0])
	for len(b.r.slots) == 2 {
		time.Sleep(time.Millisecond)
	}
	conn := b.dial("server.test", portOf(server))
	conn.Write([]byte("x"))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Error("after one has ended:", err)
	}
}

// A connection on which nothing moves ends; one that is used in one direction
// only does not.
func TestIdle(t *testing.T) {
	const idle = 600 * time.Millisecond
	ticks := serve(t, func(conn *net.TCPConn) {
		for range 20 {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(idle / 10)
		}
	})
	c := open(t, ticks)
	c.IdleTimeout = idle
	b := newRig(t, c)
	if got, err := io.ReadAll(b.dial("server.test", portOf(ticks))); len(got) != 20 || err != nil {
		t.Errorf("%d of 20 bytes, %v", len(got), err)
	}
	silent := serve(t, func(conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	c = open(t, silent)
	c.IdleTimeout = idle
	b = newRig(t, c)
	b.refused(b.dial("server.test", portOf(silent)))
}

func TestLines(t *testing.T) {
	l := lines{limit: 2}
	for _, s := range []string{"a", "b", "a", "c", "d", "c"} {
		l.add("%s", s)
	}
	if got := l.take(); !slices.Equal(got, []string{"a (2 times)", "b", "and 3 more"}) {
		t.Errorf("%q", got)
	}
	if got := l.take(); got != nil {
		t.Errorf("%q", got)
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"example.org": "example.org", "_a-B.1": "_a-B.1", "": `""`,
		"a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "a b": `"a b"`, "\xff": `"\xff"`, "é": `"\u00e9"`, `a"b`: `"a\"b"`,
	} {
		if got := quote(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
