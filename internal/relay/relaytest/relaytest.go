// Package relaytest stands in for the world outside in tests of what connects
// through a relay.
package relaytest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// Names is a resolver that knows these names alone. A name's addresses have
// spaces between them.
type Names map[string]string

// LookupNetIP makes it a relay.Resolver.
func (n Names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	text, ok := n[strings.TrimSuffix(host, ".")]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var list []netip.Addr
	for _, address := range strings.Fields(text) {
		list = append(list, netip.MustParseAddr(address))
	}
	return list, nil
}

// Greeter is a web server on the host's loopback that says hello to the name it
// is called by.
type Greeter struct {
	Port string
	Hits atomic.Int64
}

// NewGreeter starts a Greeter that lives as long as the test.
func NewGreeter(t testing.TB) *Greeter {
	g := &Greeter{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Hits.Add(1)
		fmt.Fprintf(w, "hello %s", r.Host)
	}))
	t.Cleanup(server.Close)
	g.Port = strings.TrimPrefix(server.URL, "http://127.0.0.1:")
	return g
}

// Proxy is an HTTP proxy on the host's loopback that connects nowhere: it answers every
// tunnel's first request with the word proxy.
type Proxy struct {
	URL *url.URL
	// Asked gets the method and host of each request that opens a tunnel.
	Asked <-chan string
}

// NewProxy starts a Proxy that lives as long as the test.
func NewProxy(t testing.TB) *Proxy {
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }() // whose end is the tunnel's
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &Proxy{URL: at, Asked: asked}
}

// Choose makes it everybody's proxy.
func (p *Proxy) Choose(*url.URL) (*url.URL, error) { return p.URL, nil }
