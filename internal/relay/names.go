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
	more    bool      // there are others
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

// add gives a host an address.
func (n *names) add(host string, outside []netip.Addr) *name {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have := n.byHost[host]; have != nil {
		return have
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

// keep keeps the first addresses of each family, IPv4 before IPv6. Whoever has a name says how many
// it has, up to thousands, and each of them would be held and connected to.
func (n *name) keep(found []netip.Addr) []netip.Addr {
	var four, six []netip.Addr
	for _, a := range found {
		switch a = a.Unmap(); {
		case a.Is4() && len(four) < maxAddresses:
			four = append(four, a)
		case a.Is6() && len(six) < maxAddresses:
			six = append(six, a)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.outside, n.until = append(four, six...), time.Now().Add(answerLife)
	n.more = len(n.outside) < len(found)
	return n.outside
}

// hasMore tells whether the name has addresses that were not kept.
func (n *name) hasMore() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.more
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
	found, err := r.config.Resolver.LookupNetIP(ctx, "ip", host+".")
	// A resolver sorts what it has found, with a socket for each address: who has many of them
	// looked up waits for longer before the next name.
	r.lookupPace.ReserveN(time.Now(), min(len(found)/maxAddresses, lookupBurst))
	return found, err
}

// addresses are those of a name outside.
func (r *Relay) addresses(ctx context.Context, n *name) ([]netip.Addr, error) {
	if kept := n.kept(); len(kept) > 0 {
		return kept, nil
	}
	found, err := r.resolve(ctx, n.host)
	if err != nil {
		return nil, err
	}
	return n.keep(found), nil
}
