package relay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// proxy is an HTTP proxy that answers CONNECT and leads every tunnel to one
// server.
type proxy struct {
	l     net.Listener
	asked chan string
}

func newProxy(t testing.TB, to string, answer string) *proxy {
	p := &proxy{asked: make(chan string, 10)}
	p.l = serve(t, func(conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		request, err := http.ReadRequest(in)
		if err != nil {
			p.asked <- err.Error()
			return
		}
		p.asked <- request.Method + " " + request.RequestURI + " " + request.Header.Get("Proxy-Authorization")
		if answer != "" {
			io.WriteString(conn, answer)
			if len(answer) > 1000 { // and so on
				io.Copy(io.Discard, conn)
			}
			return
		}
		upstream, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer upstream.Close()
		// The server's first words come in the packet of the answer.
		first := make([]byte, 5)
		io.ReadFull(upstream, first)
		fmt.Fprintf(conn, "HTTP/1.1 200 Connection established\r\nX-Proxy: %s\r\n\r\n%s", strings.Repeat("x", 200), first)
		go io.Copy(upstream, in)
		io.Copy(conn, upstream)
	})
	return p
}

func (p *proxy) config(rules *Policy, names map[string]string) Config {
	return Config{
		Policy: rules, Resolver: &book{names: names},
		Proxy: func(u *url.URL) (*url.URL, error) {
			if u.Scheme == "http" {
				return nil, nil // as NO_PROXY has it
			}
			return &url.URL{Scheme: "http", Host: p.l.Addr().String(), User: url.UserPassword("user", "secret")}, nil
		},
	}
}

func TestProxy(t *testing.T) {
	server := serve(t, func(conn *net.TCPConn) {
		io.WriteString(conn, "first, then ")
		io.Copy(conn, conn)
	})
	p := newProxy(t, server.Addr().String(), "")
	b := newRig(t, p.config(mustParse(t, Rules{Allow: []string{"server.test:443"}}), nil))
	conn := b.dial("server.test", 443) // a name that nobody here knows
	io.WriteString(conn, "echo")
	if got, err := io.ReadAll(io.LimitReader(conn, 16)); string(got) != "first, then echo" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := <-p.asked; got != "CONNECT server.test:443 Basic dXNlcjpzZWNyZXQ=" {
		t.Error(got)
	}
}

func TestProxyIsNotAsked(t *testing.T) {
	p := newProxy(t, "", "HTTP/1.1 200 OK\r\n\r\n")
	names := map[string]string{"local.test": "127.0.0.1", "mixed.test": "93.184.216.34 10.0.0.1", "public.test": "93.184.216.34"}
	for _, c := range []struct {
		rules Rules
		host  string
		port  uint16
		want  string
	}{
		{Rules{Full: true}, "local.test", 443, "its address is this host's loopback"},
		{Rules{Full: true}, "mixed.test", 443, "its address is in a private network"},
		{Rules{Full: true}, "unknown.test", 443, "left to the proxy"},
		{Rules{Full: true}, "10.0.0.1", 443, "10.0.0.1 is in a private network"},
		{Rules{Allow: []string{"public.test:80"}}, "public.test", 443, "other ports"},
		{Rules{Allow: []string{"local.test:80"}}, "local.test", 80, "its address is this host's loopback"}, // directly
	} {
		b := newRig(t, p.config(mustParse(t, c.rules), names))
		report := b.refused(b.dial(c.host, c.port))
		if len(report.Violations) != 1 || !strings.Contains(report.Violations[0], c.want) || len(p.asked) > 0 {
			t.Errorf("%s:%d: %+v, want %q", c.host, c.port, report, c.want)
		}
	}
}

func TestProxyFailures(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 403 no such luck\r\n\r\n":                         `it answers "HTTP/1.1 403 no such luck"`,
		"HTTP/1.1 407 \x1b[2J\r\nProxy-Authenticate: Basic\r\n\r\n": `it answers "HTTP/1.1 407 \x1b[2J"`,
		"SSH-2.0-OpenSSH\r\n\r\n":                                   `it answers "SSH-2.0-OpenSSH"`,
		"HTTP/1.1 200 OK\r\n":                                       "its answer: unexpected EOF",
		"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 20_000):      "its answer: unexpected EOF",
	} {
		p := newProxy(t, "", answer)
		b := newRig(t, p.config(mustParse(t, Rules{Allow: []string{"server.test"}}), nil))
		report := b.refused(b.dial("server.test", 443))
		<-p.asked
		if len(report.Failures) != 1 || !strings.Contains(report.Failures[0], want) || strings.Contains(report.Failures[0], "secret") || strings.Contains(report.Failures[0], "127.0.0.1") {
			t.Errorf("%q: %q, want %q", answer, report.Failures, want)
		}
	}
	b := newRig(t, Config{Policy: mustParse(t, Rules{Allow: []string{"server.test"}}), Resolver: &book{}, Proxy: func(*url.URL) (*url.URL, error) {
		return &url.URL{Scheme: "socks5", Host: "127.0.0.1:1"}, nil
	}})
	if report := b.refused(b.dial("server.test", 443)); len(report.Failures) != 1 || !strings.Contains(report.Failures[0], "only http is spoken") {
		t.Errorf("%+v", report)
	}
}

// A proxy that says nothing is given up with everything else.
func TestSilentProxy(t *testing.T) {
	silent := serve(t, func(conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	p := &proxy{l: silent}
	config := p.config(mustParse(t, Rules{Allow: []string{"server.test"}}), nil)
	config.DialTimeout = 50_000_000
	b := newRig(t, config)
	if report := b.refused(b.dial("server.test", 443)); len(report.Failures) != 1 || !strings.Contains(report.Failures[0], "deadline exceeded") && !strings.Contains(report.Failures[0], "timeout") {
		t.Errorf("%+v", report)
	}
}
