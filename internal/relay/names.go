package relay

import (
	"context"
	"encoding/binary"
	"net/netip"
	"sync"
	"time"
)

// namePool is where names get their addresses inside: a network that is set
// aside for tests of devices (RFC 2544), so that nothing outside has them.
var namePool = netip.MustParsePrefix("198.18.0.0/15")

// NameServer is what belongs into the container's resolv.conf. Programs that ask
// another address get the same answers.
const NameServer = "198.18.0.1"

// firstName is behind NameServer.
const firstName = 2

// name is a host that was asked for.
type name struct {
	host   string
	inside netip.Addr

	mu      sync.Mutex
	outside []netip.Addr
	until   time.Time // when outside has to be looked up again
}

// names are the hosts that were asked for; each keeps its address inside for
// the life of the container. The zero value is empty.
type names struct {
	mu     sync.Mutex
	byHost map[string]*name
	list   []*name // by address, from firstName up
}

// find is the name of a host, and nil when it has not been asked for.
func (n *names) find(host string) *name {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byHost[host]
}

// add gives a host an address, and nil when there are limit names already.
func (n *names) add(host string, outside []netip.Addr, limit int) *name {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have := n.byHost[host]; have != nil {
		return have
	}
	if len(n.list) >= limit {
		return nil
	}
	if n.byHost == nil {
		n.byHost = map[string]*name{}
	}
	base := namePool.Addr().As4()
	inside := binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(base[:])+uint32(firstName+len(n.list)))
	added := &name{host: host, inside: netip.AddrFrom4([4]byte(inside))}
	added.keep(outside)
	n.byHost[host] = added
	n.list = append(n.list, added)
	return added
}

// at is the name that was given an address, or nil.
func (n *names) at(inside netip.Addr) *name {
	base, a := namePool.Addr().As4(), inside.As4()
	i := int(binary.BigEndian.Uint32(a[:])-binary.BigEndian.Uint32(base[:])) - firstName
	n.mu.Lock()
	defer n.mu.Unlock()
	if i < 0 || i >= len(n.list) {
		return nil
	}
	return n.list[i]
}

// answerLife is how long an address is taken for a name's. A connection
// usually follows the question at once, and needs no second one then.
const answerLife = 30 * time.Second

func (n *name) keep(outside []netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.outside, n.until = outside, time.Now().Add(answerLife)
}

func (n *name) kept() []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Now().After(n.until) {
		return nil
	}
	return n.outside
}

// Resolver looks names up outside. [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// lookupTimeout is for one name; a stub resolver waits five seconds.
const lookupTimeout = 5 * time.Second

// resolve looks a host up. The dot at the end keeps the resolver from trying
// the host's own search domains: what an entry names is what is meant.
func (r *Relay) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if host == HostName {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if err := r.lookupPace.Wait(ctx); err != nil {
		return nil, err
	}
	return r.config.Resolver.LookupNetIP(ctx, "ip", host+".")
}

// addresses are those of a name outside.
func (r *Relay) addresses(ctx context.Context, n *name) ([]netip.Addr, error) {
	if kept := n.kept(); len(kept) > 0 {
		return kept, nil
	}
	found, err := r.resolve(ctx, n.host)
	if err == nil {
		n.keep(found)
	}
	return found, err
}
