package relay

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Close ends what is open, what is being connected and what is being asked, and
// nothing of the relay is left.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	arrived := make(chan bool, 10)
	server := serve(t, func(conn *net.TCPConn) {
		arrived <- true
		io.Copy(io.Discard, conn)
	})
	silent := &proxy{l: server}
	for range 3 {
		config := open(t, server)
		config.Proxy = func(u *url.URL) (*url.URL, error) {
			if u.Scheme == "http" { // port 80, below
				return silent.config(nil, nil).Proxy(&url.URL{})
			}
			return nil, nil
		}
		config.Policy = mustParse(t, Rules{Allow: []string{"127.0.0.1"}})
		b := newRig(t, config)
		udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		b.r.ServeUDP(udp)
		conns := []*net.TCPConn{b.dial("127.0.0.1", portOf(server))} // open
		<-arrived
		conns = append(conns, b.dial("127.0.0.1", 80)) // on its way through a proxy
		<-arrived
		conns = append(conns, b.dial("8.8.8.8", 53)) // asking
		for len(b.r.slots) < len(conns) {
			time.Sleep(time.Millisecond)
		}
		b.r.Close()
		if all := stacks(); strings.Contains(all, "(*Relay).") {
			t.Errorf("Close returns before the relay has ended:\n%s", all)
		}
		b.r.Close()
		for i, conn := range conns {
			if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("connection %d is still open: %v", i, err)
			}
		}
		late := listen(t)
		b.r.Serve(late)
		if _, err := net.Dial("tcp", late.Addr().String()); err == nil {
			t.Error("a closed relay listens")
		}
	}
	server.Close()
	noneLeft(t, before)
}

// What a program tries in its last moment is refused and told, though the relay has been
// closed before it could look at it.
func TestRefusedWhileClosing(t *testing.T) {
	for _, has := range []string{"taken the connection", "accepted the connection"} {
		t.Run(has, func(t *testing.T) {
			waits, goOn := make(chan bool), make(chan bool)
			hold := func() {
				waits <- true
				<-goOn
			}
			config := Config{
				Policy:      mustParse(t, Rules{Allow: []string{"server.test"}}),
				Destination: func(net.Conn) (netip.AddrPort, error) { return netip.MustParseAddrPort("169.254.169.254:7"), nil },
			}
			l := &heldListener{Listener: listen(t)}
			if has == "taken the connection" {
				to := config.Destination
				config.Destination = func(conn net.Conn) (netip.AddrPort, error) {
					hold()
					return to(conn)
				}
			} else {
				l.hold = hold
			}
			r := New(t.Context(), config)
			r.Serve(l)
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			<-waits
			closed := make(chan bool)
			go func() {
				r.Close()
				close(closed)
			}()
			<-r.ctx.Done()
			close(goOn)
			<-closed
			report := r.Report()
			if v := report.Violations; len(v) != 1 || !strings.HasPrefix(v[0], "connection to 169.254.169.254:7 refused: ") {
				t.Errorf("%+v, want the refusal", report)
			}
		})
	}
}

// What was not sent to its end when the relay is closed does not look whole at the other side.
func TestCloseBreaksOff(t *testing.T) {
	goOn, ended := make(chan bool), make(chan error, 1)
	server := serve(t, func(conn *net.TCPConn) {
		<-goOn
		_, err := io.Copy(io.Discard, conn)
		ended <- err
	})
	b := newRig(t, open(t, server))
	conn := b.dial("127.0.0.1", portOf(server))
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	if n, err := io.CopyN(conn, zeros{}, 64<<20); err == nil {
		t.Fatalf("all of %d bytes are in buffers", n)
	}
	_ = conn.Close()
	if !b.r.Sending() {
		t.Error("nothing is on its way")
	}
	b.r.Close()
	close(goOn)
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
	if b.r.Sending() {
		t.Error("a relay that is closed sends")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// What has been sent to its end is whole, and a connection that was not made is a failure.
func TestSendingEnds(t *testing.T) {
	ended := make(chan error, 1)
	server := serve(t, func(conn *net.TCPConn) {
		_, err := io.Copy(io.Discard, conn)
		ended <- err
	})
	b := newRig(t, open(t, server))
	conn := b.dial("127.0.0.1", portOf(server))
	if _, err := io.CopyN(conn, zeros{}, 1<<20); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for i := 0; b.r.Sending(); i++ {
		if i > 1000 {
			t.Fatal("it still sends")
		}
		time.Sleep(time.Millisecond)
	}
	silent := listen(t) // of whose backlog nobody takes
	proxy := Config{Policy: mustParse(t, Rules{Full: true}), Proxy: func(*url.URL) (*url.URL, error) { return &url.URL{Scheme: "http", Host: silent.Addr().String()}, nil }}
	late := newRig(t, proxy)
	late.dial("93.184.216.34", 443)
	for i := 0; !late.r.Sending(); i++ {
		if i > 1000 {
			t.Fatal("nothing is being connected")
		}
		time.Sleep(time.Millisecond)
	}
	late.r.Close()
	if f := late.r.Report().Failures; len(f) != 1 || !strings.Contains(f[0], "connection to 93.184.216.34:443 failed: it was not made when the program had ended") {
		t.Errorf("%q", f)
	}
}

// heldListener holds a connection back after it was accepted.
type heldListener struct {
	net.Listener
	hold func()
}

func (l *heldListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil && l.hold != nil {
		l.hold()
	}
	return conn, err
}

// noneLeft waits until there are no more goroutines than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for i := 0; runtime.NumGoroutine() > before; i++ { // the server's own take a moment
		if i > 1000 {
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stacks are those of all goroutines.
func stacks() string {
	b := make([]byte, 1<<16)
	return string(b[:runtime.Stack(b, true)])
}
