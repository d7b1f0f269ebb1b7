package relay

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// dialThrough connects to a target through an HTTP proxy, by its name: a proxy's
// own rules are about names.
func (r *Relay) dialThrough(ctx context.Context, proxy *url.URL, t target) (net.Conn, error) {
	if err := r.checkProxied(ctx, t); err != nil {
		return nil, err
	}
	conn, err := connectThrough(ctx, proxy, t.String())
	if err != nil {
		return nil, fmt.Errorf("the proxy: %s", reason(err))
	}
	boundBuffers(conn)
	return conn, nil
}

// checkProxied does what can be done about addresses that somebody else will
// look up: all that this host finds must be open, and a name that it cannot
// find, or not look at as a whole, must be named by the allow-list.
func (r *Relay) checkProxied(ctx context.Context, t target) error {
	if t.name == nil {
		return r.check(netip.AddrPortFrom(t.address, t.port), false)
	}
	addresses, err := r.addresses(ctx, t.name)
	if err != nil || t.name.hasMore() {
		if r.config.Policy.names(t.name.host) {
			return nil
		}
		return refuse("this host cannot look at all addresses of the name, so it has to be in the allow-list to be left to the proxy")
	}
	for _, a := range addresses {
		if err := r.check(netip.AddrPortFrom(a, t.port), true); err != nil {
			return err
		}
	}
	return nil
}

// connectThrough asks a proxy for a tunnel (RFC 9110, section 9.3.6). The proxy
// is the operator's choice and may be anywhere.
func connectThrough(ctx context.Context, proxy *url.URL, to string) (net.Conn, error) {
	if proxy.Scheme != "http" {
		return nil, fmt.Errorf("its scheme is %q, and only http is spoken to proxies", proxy.Scheme)
	}
	port := proxy.Port()
	if port == "" {
		port = "80"
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), port))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = tunnel(conn, proxy, to)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func tunnel(conn net.Conn, proxy *url.URL, to string) error {
	request := "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n"
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return err
	}
	return tunnelAnswer(conn)
}

// tunnelAnswer reads the proxy's answer and not a byte of what comes behind it.
func tunnelAnswer(conn net.Conn) error {
	const maxAnswer = 16 << 10
	r := textproto.NewReader(bufio.NewReader(io.LimitReader(oneByte{conn}, maxAnswer)))
	line, err := r.ReadLine()
	if err == nil {
		_, err = r.ReadMIMEHeader()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("its answer: %w", err)
	}
	version, status, _ := strings.Cut(line, " ")
	if _, ok := strings.CutPrefix(version, "HTTP/1."); !ok || len(status) < 3 || status[0] != '2' {
		return fmt.Errorf("it answers %.80q", line)
	}
	return nil
}

// oneByte reads single bytes, so that a buffer above it has none too many.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(b []byte) (int, error) { return o.r.Read(b[:min(len(b), 1)]) }
