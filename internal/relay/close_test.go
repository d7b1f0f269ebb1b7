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
