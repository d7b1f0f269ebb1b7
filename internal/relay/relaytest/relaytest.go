// Package relaytest stands in for the world outside in tests of what connects
// through a relay.
package relaytest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
