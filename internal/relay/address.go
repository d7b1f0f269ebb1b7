package relay

import (
	"net"
	"net/netip"
)

// network is one that is closed unless it is named.
type network struct {
	prefix netip.Prefix
	what   string
}

func (n network) String() string { return n.what }

// contains tells whether all of a prefix lies in the network.
func (n network) contains(p netip.Prefix) bool {
	return n.prefix.Bits() <= p.Bits() && n.prefix.Contains(p.Addr())
}

func closed(prefix, what string) network { return network{netip.MustParsePrefix(prefix), what} }

const (
	metadata = "the cloud's metadata service, which gives out this machine's credentials"
	private  = "in a private network"
	special  = "in a network for special use"
)

// special4and6 are the IANA special-purpose registries for IPv4 and IPv6, and
// addresses at which clouds tell a machine its credentials. Of several that
// contain an address the first is named.
var special4and6 = []network{
	closed("169.254.169.254/32", metadata), // most clouds
	closed("169.254.170.2/32", metadata),   // Amazon ECS
	closed("169.254.170.23/32", metadata),  // Amazon EKS
	closed("168.63.129.16/32", metadata),   // Azure, amid public addresses
	closed("100.100.100.200/32", metadata), // Alibaba
	closed("192.0.0.192/32", metadata),     // Oracle
	closed("fd00:ec2::254/128", metadata),  // Amazon
	closed("fd00:ec2::23/128", metadata),   // Amazon EKS
	closed("fd20:ce::254/128", metadata),   // Google

	closed("0.0.0.0/8", "this host"),
	closed("10.0.0.0/8", private),
	closed("100.64.0.0/10", "in a provider's own network"),
	closed("127.0.0.0/8", "this host's loopback"),
	closed("169.254.0.0/16", "link-local"),
	closed("172.16.0.0/12", private),
	closed("192.0.0.0/24", special),
	closed("192.0.2.0/24", special),
	closed("192.88.99.0/24", special),
	closed("192.168.0.0/16", private),
	closed("198.18.0.0/15", special),
	closed("198.51.100.0/24", special),
	closed("203.0.113.0/24", special),
	closed("224.0.0.0/4", "multicast"),
	closed("240.0.0.0/4", special), // 255.255.255.255 as well

	// Of IPv6, 2000::/3 is what is public.
	closed("::/128", "this host"),
	closed("::1/128", "this host's loopback"),
	closed("fc00::/7", private),
	closed("fe80::/10", "link-local"),
	closed("ff00::/8", "multicast"),
	closed("::/3", special),
	closed("4000::/2", special),
	closed("8000::/1", special),
	closed("2001::/23", special),     // Teredo as well
	closed("2001:db8::/32", special), // examples
	closed("2002::/16", special),     // 6to4, which has an IPv4 address inside
	closed("3fff::/20", special),
}

// nat64 is how a network without IPv4 writes an IPv4 address (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// plain is the address that packets get to in the end: IPv4 where it was
// wrapped into IPv6.
func plain(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// closedNetworks are all closed ones that contain an address, those of this host's own
// addresses too.
func closedNetworks(a netip.Addr, own []netip.Prefix) []network {
	return openedNetworks(netip.PrefixFrom(a, a.BitLen()), own)
}

// openedNetworks are the closed ones that contain all of a prefix, which an
// entry with that prefix therefore opens.
func openedNetworks(p netip.Prefix, own []netip.Prefix) []network {
	var list []network
	for _, n := range special4and6 {
		if n.contains(p) {
			list = append(list, n)
		}
	}
	for _, o := range own {
		if n := (network{o, "an address of this host"}); n.contains(p) && !o.Addr().IsLoopback() {
			list = append(list, n)
		}
	}
	return list
}

// HostAddresses are this host's own addresses: those of its interfaces, and those that its
// kernel takes for its own by a route, as it does with a load balancer's.
func HostAddresses() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	list, err := localRoutes()
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own := plain(p.Addr())
			list = append(list, netip.PrefixFrom(own, own.BitLen()))
		}
	}
	return list, nil
}
