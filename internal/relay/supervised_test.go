package relay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// These tests hand connections to the relay that somebody else has accepted, as
// the supervisor of programs without a network namespace does.

// newRelay makes a relay that listens nowhere.
func newRelay(t testing.TB, config Config) *Relay {
	t.Helper()
	r := New(t.Context(), config)
	t.Cleanup(r.Close)
	return r
}

// pair makes a connection: the program's end and ours.
func pair(t testing.TB) (theirs *net.TCPConn, ours net.Conn) {
	t.Helper()
	l := listen(t)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); ours.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn.(*net.TCPConn), ours
}

func local(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

func TestCarry(t *testing.T) {
	server := serve(t, echo)
	r := newRelay(t, open(t, server))
	conn, ours := pair(t)
	r.Carry(ours, local(portOf(server)))
	fmt.Fprint(conn, "hello")
	conn.CloseWrite()
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	conn, ours = pair(t)
	r.Carry(ours, local(portOf(server)+1))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("what is refused ends with %v", err)
	}
	conn, ours = pair(t)
	r.Carry(ours, netip.MustParseAddrPort("8.8.8.8:53"))
	packet := question(t, "server.test.", dnsmessage.TypeA, nil)
	conn.Write(append([]byte{0, byte(len(packet))}, packet...))
	b := make([]byte, 600)
	if n, err := conn.Read(b); err != nil || said(t, b[2:n]) != "Success 198.18.0.2" {
		t.Errorf("the name server says %q, %v", b[:n], err)
	}
	r.Close()
	if report := r.Report(); report.Connections != 1 || report.BytesSent != 5 || len(report.Violations) != 1 || len(report.Failures) > 0 {
		t.Errorf("%+v", report)
	}
}

// A connection that cannot say that one direction has ended is one all the same.
func TestCarryPipe(t *testing.T) {
	server := serve(t, func(conn *net.TCPConn) { fmt.Fprint(conn, "hello") })
	r := newRelay(t, open(t, server))
	conn, ours := net.Pipe()
	r.Carry(ours, local(portOf(server)))
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	conn, ours = net.Pipe()
	r.Carry(ours, local(1))
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("what is refused ends with %v", err)
	}
}

// There is room for so many connections and name servers, and again when some
// have ended.
func TestCarryBound(t *testing.T) {
	server := serve(t, echo)
	config := open(t, server)
	config.MaxConnections = 2
	r := newRelay(t, config)
	conn, ours := pair(t)
	r.Carry(ours, local(portOf(server)))
	asking, answering := net.Pipe()
	asked := make(chan bool)
	r.AnswerMessages(answering, func() { close(asked) })
	for len(r.slots) < 2 {
		time.Sleep(time.Millisecond)
	}
	full, ours := pair(t)
	r.Carry(ours, local(portOf(server)))
	if _, err := full.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the third ends with %v", err)
	}
	_, late := net.Pipe()
	refused := false
	r.AnswerMessages(late, func() { refused = true })
	if want := []string{"connection refused: 2 are open already, the most at once (2 times)"}; !refused || !slices.Equal(r.Report().Violations, want) {
		t.Errorf("a name server without room: told %v", refused)
	}
	asking.Close()
	<-asked
	conn.Close()
	for len(r.slots) > 0 {
		time.Sleep(time.Millisecond)
	}
	conn, ours = pair(t)
	r.Carry(ours, local(portOf(server)))
	conn.Write([]byte("x"))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Error("after they have ended:", err)
	}
}

// Each message is a question by itself, and what is none is told of.
func TestAnswerMessages(t *testing.T) {
	r := newRelay(t, Config{Policy: mustParse(t, Rules{Allow: []string{"a.test"}}), Resolver: &book{names: zone}})
	program, ours := messages(t)
	done := make(chan bool)
	r.AnswerMessages(ours, func() { close(done) })
	b := make([]byte, 600)
	for _, c := range []struct{ host, want string }{
		{"a.test.", "Success 198.18.0.2"}, {"", ""}, {"b.test.", "Refused"}, {"a.test.", "Success 198.18.0.2"},
	} {
		if c.host == "" {
			program.Write([]byte("what is this?"))
			program.Write(make([]byte, 2*maxPacket))
			continue
		}
		program.Write(question(t, c.host, dnsmessage.TypeA, nil))
		if n, err := program.Read(b); err != nil || said(t, b[:n]) != c.want {
			t.Errorf("%s: %q, %v", c.host, b[:n], err)
		}
	}
	program.Close()
	<-done
	want := []string{"datagram refused: only TCP and name queries leave the sandbox (2 times)", "name b.test refused: it is not in the allow-list"}
	if got := r.Report().Violations; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// messages are two ends of a connection that keeps messages apart.
func messages(t *testing.T) (theirs, ours net.Conn) {
	t.Helper()
	name := t.TempDir() + "/s"
	l, err := net.Listen("unixpacket", name)
	if err != nil {
		t.Skip("this system has no such connections:", err)
	}
	defer l.Close()
	if theirs, err = net.Dial("unixpacket", name); err != nil {
		t.Fatal(err)
	}
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close(); ours.Close() })
	theirs.SetDeadline(time.Now().Add(20 * time.Second))
	return theirs, ours
}

// Close ends what was handed over, and what is handed over afterwards. Nothing of
// the relay is left.
func TestCloseOfWhatWasHandedOver(t *testing.T) {
	before := runtime.NumGoroutine()
	server := serve(t, func(conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	for range 20 {
		r := New(t.Context(), open(t, server))
		if !r.Pace() {
			t.Error("no connection may be tried")
		}
		done := make(chan bool, 2)
		var ends []net.Conn
		for i, to := range []netip.AddrPort{local(portOf(server)), netip.MustParseAddrPort("8.8.8.8:53"), {}, {}, local(portOf(server))} {
			conn, ours := pair(t)
			ends = append(ends, conn)
			if i == 3 {
				r.Close()
			}
			if to.IsValid() {
				r.Carry(ours, to)
			} else {
				r.AnswerMessages(ours, func() { done <- true })
			}
		}
		for i, conn := range ends {
			if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
				t.Errorf("connection %d is still open: %v", i, err)
			}
		}
		<-done
		<-done
		if all := stacks(); len(r.slots) > 0 || strings.Contains(all, "(*Relay).") {
			t.Errorf("%d connections are left:\n%s", len(r.slots), all)
		}
		if r.Pace() {
			t.Error("a closed relay lets connections be tried")
		}
	}
	server.Close()
	noneLeft(t, before)
}

// What somebody else has decided stands in the same report.
func TestRefuseAndFailed(t *testing.T) {
	r := newRelay(t, Config{Policy: mustParse(t, Rules{})})
	r.Refuse("udp to %s refused", "1.1.1.1:1")
	r.Refuse("udp to %s refused", "1.1.1.1:1")
	r.Failed("no socket: %d", 7)
	if got := r.Report(); !slices.Equal(got.Violations, []string{"udp to 1.1.1.1:1 refused (2 times)"}) || !slices.Equal(got.Failures, []string{"no socket: 7"}) {
		t.Errorf("%+v", got)
	}
}
