package relay

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Rules are what a request, or an operator, says about the network.
type Rules struct {
	// Full opens every name and every public address. Otherwise Allow is all
	// that is open.
	Full bool
	// Allow are entries, each a destination with an optional port. An entry
	// without a port means every port of that host.
	//
	//	example.org          a host
	//	example.org:443      one port of it
	//	*.example.org        all hosts below it, at any depth, but not itself
	//	93.184.216.34:80     an address
	//	10.1.0.0/16:5432     a network
	//	[2001:db8::1]:443    IPv6 in brackets: for names that resolve to it, since
	//	                     containers have no IPv6 themselves
	//	localhost:8080       this host's loopback, as [HostName]
	//
	// A name does not open a private address that it resolves to, or a program
	// could be led into the operator's network by whoever answers for the name:
	// loopback, link-local, private and other special networks, services that
	// tell secrets to whoever connects from this machine, and this host's own
	// addresses are open only by an entry that lies within them. So 10.1.2.3 and
	// 10.0.0.0/8 open what they say, and 0.0.0.0/0 is every public address.
	Allow []string
	// AllowDNS answers for names that are not open, with real addresses and
	// bounded in number, although nothing can be connected to there. It is a way
	// out for data: a name is text, and it reaches whoever answers for it.
	AllowDNS bool
}

// maxEntries bounds a policy: each connection is held against each entry.
const maxEntries = 1000

// Policy is what [Rules] mean. It does not change.
type Policy struct {
	full, dns bool
	entries   []entry
}

// Parse checks the rules. An error names the entry and what is wrong with it.
func Parse(rules Rules) (*Policy, error) {
	if len(rules.Allow) > maxEntries {
		return nil, fmt.Errorf("%d entries in the allow-list, at most %d", len(rules.Allow), maxEntries)
	}
	p := &Policy{full: rules.Full, dns: rules.AllowDNS}
	for _, text := range rules.Allow {
		entries, err := parseEntry(text)
		if err != nil {
			return nil, err
		}
		p.entries = append(p.entries, entries...)
	}
	return p, nil
}

// Ports are the ports that entries name, and all is true when any port may be
// open: where connections cannot be redirected, that is what to listen on.
func (p *Policy) Ports() (ports []uint16, all bool) {
	all = p.full
	for _, e := range p.entries {
		if e.port == 0 {
			all = true
			continue
		}
		ports = append(ports, e.port)
	}
	slices.Sort(ports)
	return slices.Compact(ports), all
}

// allowsName tells whether a name may be resolved to be connected to.
func (p *Policy) allowsName(host string) bool {
	if host == HostName {
		return slices.ContainsFunc(p.entries, func(e entry) bool { return e.isLoopback() })
	}
	return p.full || p.names(host)
}

// names tells whether an entry names the host.
func (p *Policy) names(host string) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool { return e.matchesName(host) })
}

// checkName is nil when a port of a name may be connected to, whatever its
// address. [HostName] is decided on by its address alone.
func (p *Policy) checkName(host string, port uint16) error {
	if p.full || host == HostName {
		return nil
	}
	for _, e := range p.entries {
		if e.matchesName(host) && e.matchesPort(port) {
			return nil
		}
	}
	if p.names(host) {
		return refuse("the allow-list has other ports of it")
	}
	return refuse("the name is not in the allow-list")
}

// checkAddress is nil when an address may be connected to: by a program that
// has named the address itself or, when named, by one whose name [Policy.checkName]
// has let through. own are the addresses of this host.
func (p *Policy) checkAddress(to netip.AddrPort, named bool, own []netip.Prefix) error {
	address := plain(to.Addr())
	closed := closedNetworks(address, own)
	if fault.Off("relay", "private addresses") {
		closed = nil
	}
	for _, e := range p.entries {
		if e.opens(address, closed) && e.matchesPort(to.Port()) {
			return nil
		}
	}
	switch {
	case len(closed) > 0 && named: // an address that the host's resolver alone may know
		return refuse("its address is %s; to allow it, name the address itself", closed[0])
	case len(closed) > 0:
		return refuse("%s is %s; to allow it, name the address itself", address, closed[0])
	}
	if named || p.full || fault.Off("relay", "allow-list") {
		return nil
	}
	return refuse("the address is not in the allow-list")
}

// hides tells whether an address is in a network that is closed, on every port of it.
func (p *Policy) hides(a netip.Addr, own []netip.Prefix) bool {
	closed := closedNetworks(plain(a), own)
	return len(closed) > 0 && !slices.ContainsFunc(p.entries, func(e entry) bool { return e.opens(plain(a), closed) })
}

// Within is nil when nothing is open that the ceiling, an operator's policy,
// does not open. own are the addresses of this host, see [HostAddresses].
func (p *Policy) Within(ceiling *Policy, own []netip.Prefix) error {
	if p.full && !ceiling.full {
		return fmt.Errorf("network full is more than the operator allows")
	}
	if p.dns && !ceiling.dns && !ceiling.full {
		return fmt.Errorf("resolving every name is more than the operator allows")
	}
	for _, e := range p.entries {
		if !ceiling.covers(e, own) {
			return fmt.Errorf("network access to %s is more than the operator allows", e.text)
		}
	}
	return nil
}

func (p *Policy) covers(e entry, own []netip.Prefix) bool {
	if e.host != "" {
		return p.full || slices.ContainsFunc(p.entries, func(c entry) bool { return c.coversName(e) })
	}
	opened := openedNetworks(e.prefix, own)
	if p.full && len(opened) == 0 {
		return true
	}
	return slices.ContainsFunc(p.entries, func(c entry) bool {
		return c.covers(e) && !slices.ContainsFunc(opened, func(n network) bool { return !n.contains(c.prefix) })
	})
}

// refusal is an error that is the program's: a rule said no.
type refusal struct{ rule string }

func (r *refusal) Error() string { return r.rule }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// HostName is the name by which a program reaches this host's loopback, as far
// as the policy opens it. Docker and Podman have given it that name.
const HostName = "host.docker.internal"

// isLocalName tells the names of RFC 6761 that mean the container itself.
func isLocalName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
