package client

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

const (
	dialTimeout = 10 * time.Second
	// continueTimeout is how long a server may take to say that it wants a body;
	// then it gets it unasked.
	continueTimeout = time.Second
	idleTimeout     = 90 * time.Second
	idleConnections = 32
)

// askFrom is the size from which on a body waits for the server to want it: one
// that has no room says so before.
const askFrom = 1 << 20

// transport is one that goes to a socket, or to where a URL says.
func transport(socket string) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   dialTimeout,
		ExpectContinueTimeout: continueTimeout,
		IdleConnTimeout:       idleTimeout,
		MaxIdleConnsPerHost:   idleConnections,
		DisableCompression:    true, // a small answer must not unfold into a large one
	}
	if socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, dialer, socket) }
	}
	return t
}

// post sends a request to run.
func (c *Client) post(ctx context.Context, req api.Request, accept string) (*http.Response, error) {
	b, err := encode(req)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, "execute", b, accept)
}

// send sends any request. The caller closes the answer's body.
func (c *Client) send(ctx context.Context, method, path string, b body, accept string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(b.content))
	if err != nil {
		return nil, c.broken(ctx, false, err)
	}
	r.Header.Set("Accept", accept)
	if b.kind != "" {
		r.Header.Set("Content-Type", b.kind)
	}
	if len(b.content) >= askFrom {
		r.Header.Set("Expect", "100-continue")
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.broken(ctx, false, err)
	}
	return resp, nil
}
