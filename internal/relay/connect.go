package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// target is what a program wants to connect to: a name, or an address that it
// has brought itself.
type target struct {
	name    *name // nil for an address
	address netip.Addr
	port    uint16
}

func (t target) host() string {
	if t.name != nil {
		return t.name.host
	}
	return t.address.String()
}

func (t target) String() string { return net.JoinHostPort(t.host(), strconv.Itoa(int(t.port))) }

// connect carries a program's connection to its destination until both sides
// have ended. An error has been noted. sent is called when its program has nothing more to send.
func (r *Relay) connect(conn net.Conn, to netip.AddrPort, sent func()) error {
	t := target{address: to.Addr().Unmap(), port: to.Port()}
	if namePool.Contains(t.address) {
		if t.name = r.names.at(t.address); t.name == nil {
			r.violations.add("connection to %s refused: no name has this address", t)
			return net.ErrClosed
		}
	}
	upstream, err := r.dial(t)
	if err != nil {
		r.note(t, err)
		return err
	}
	held := &outward{Conn: upstream}
	if !r.hold(held) {
		r.note(t, net.ErrClosed)
		return net.ErrClosed
	}
	defer r.release(held)
	r.connections.Add(1)
	return r.carry(conn, upstream, func() {
		held.whole.Store(true)
		sent()
	})
}

// outward is a connection outside. One that is closed before its program has said its last is
// reset: what was cut off must not look whole there.
type outward struct {
	net.Conn
	whole atomic.Bool
}

// Close implements [net.Conn].
func (o *outward) Close() error {
	if !o.whole.Load() {
		reset(o.Conn)
		return nil
	}
	return o.Conn.Close()
}

// note tells refusals from failures.
func (r *Relay) note(t target, err error) {
	var no *refusal
	switch {
	case errors.As(err, &no):
		r.violations.add("connection to %s refused: %s", t, no.rule)
	case r.ctx.Err() != nil:
		r.failures.add("connection to %s failed: it was not made when the program had ended", t)
	default:
		r.failures.add("connection to %s failed: %s", t, reason(err))
	}
}

// reason is what went wrong, without the addresses of our side: a report is
// read by whoever sent the program.
func reason(err error) string {
	var dnsErr *net.DNSError
	switch {
	case !errors.As(err, &dnsErr):
	case dnsErr.IsNotFound:
		return "no such host"
	case dnsErr.IsTimeout:
		return "the resolver has not answered in time"
	default: // whose error would name its server
		return "the resolver has failed"
	}
	var opErr *net.OpError
	if errors.As(err, &opErr) {
		return reason(opErr.Err)
	}
	return err.Error()
}

// dial connects to a target if the policy lets it.
func (r *Relay) dial(t target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.config.DialTimeout)
	defer cancel()
	if t.name != nil {
		if err := r.config.Policy.checkName(t.name.host, t.port); err != nil {
			return nil, err
		}
	}
	proxy, err := r.proxy(t)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		return r.dialThrough(ctx, proxy, t)
	}
	if t.name == nil {
		return r.dialAddress(ctx, netip.AddrPortFrom(t.address, t.port), false)
	}
	return r.dialName(ctx, t)
}

// dialName tries the addresses of a name, each with its share of the time that is left; each but
// the first counts for the pace like a connection of the program's. Of refusals and failures it
// returns the first refusal: that is what somebody can do something about.
func (r *Relay) dialName(ctx context.Context, t target) (net.Conn, error) {
	addresses, err := r.addresses(ctx, t.name)
	if err != nil {
		return nil, err
	}
	failed := errors.New("the name has no address")
	for i, a := range addresses {
		if i > 0 && r.connPace.Wait(ctx) != nil {
			break
		}
		upstream, err := r.dialShare(ctx, netip.AddrPortFrom(a, t.port), len(addresses)-i)
		if err == nil {
			return upstream, nil
		}
		var no *refusal
		if i == 0 || errors.As(err, &no) && !errors.As(failed, &no) {
			failed = err
		}
	}
	return nil, failed
}

func (r *Relay) dialShare(ctx context.Context, to netip.AddrPort, shares int) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
	defer cancel()
	return r.dialAddress(ctx, to, true)
}

// dialAddress connects to one address. What is checked is the address in the
// kernel's own words, right before it is connected to.
func (r *Relay) dialAddress(ctx context.Context, to netip.AddrPort, named bool) (net.Conn, error) {
	d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		real, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return r.check(real, named)
	}}
	conn, err := d.DialContext(ctx, "tcp", to.String())
	if err == nil {
		boundBuffers(conn)
	} else if r.ctx.Err() != nil { // when the dialer does not come to ask
		err = cmp.Or(r.check(to, named), err)
	}
	return conn, err
}

func (r *Relay) check(to netip.AddrPort, named bool) error {
	own, err := r.ownAddresses()
	if err != nil {
		return fmt.Errorf("cannot tell this host's own addresses: %w", err)
	}
	return r.config.Policy.checkAddress(to, named, own)
}

// ownLife is how long an address may belong to this host without our knowing.
const ownLife = 5 * time.Second

func (r *Relay) ownAddresses() ([]netip.Prefix, error) {
	r.ownMu.Lock()
	defer r.ownMu.Unlock()
	if time.Now().Before(r.ownUntil) {
		return r.own, nil
	}
	own, err := HostAddresses()
	if err == nil {
		r.own, r.ownUntil = own, time.Now().Add(ownLife)
	}
	return own, err
}

// proxy is the proxy for a target, or nil.
func (r *Relay) proxy(t target) (*url.URL, error) {
	if r.config.Proxy == nil || t.host() == HostName {
		return nil, nil
	}
	scheme := "https"
	if t.port == 80 {
		scheme = "http"
	}
	proxy, err := r.config.Proxy(&url.URL{Scheme: scheme, Host: t.String()})
	if err != nil {
		return nil, fmt.Errorf("no proxy can be chosen: %w", err)
	}
	return proxy, nil
}
