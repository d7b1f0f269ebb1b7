package sandbox

import (
	"fmt"
	"slices"
)

// NetworkMode is what a container may reach.
type NetworkMode string

// The network modes.
const (
	NetworkNone      NetworkMode = "none"
	NetworkLocalhost NetworkMode = "localhost" // its own loopback, not the host's
	NetworkAllowlist NetworkMode = "allowlist" // what the policy names
	NetworkFull      NetworkMode = "full"      // the public internet, and what the policy names
)

// NetworkPolicy says what processes may reach.
type NetworkPolicy struct {
	// Mode is empty for [NetworkNone], or for [NetworkAllowlist] where one of the
	// other fields is set.
	Mode NetworkMode
	// Allow are the entries of the allow-list: a host, all hosts below one
	// (*.example.org), an address or a network, each with an optional port.
	// Private addresses and this host's own are open by an entry alone, whatever
	// the mode; localhost:PORT is this host's loopback, which programs know as
	// host.docker.internal.
	Allow []string
	// AllowDNS lets names resolve although nothing else can be connected to.
	AllowDNS bool
	// HostProxy connects through the host's HTTP proxy, where the runtime knows
	// of one. It is for installers of packages, whose index may be reached by no
	// other way.
	HostProxy bool
}

// Normal is the policy with its mode filled in.
func (p NetworkPolicy) Normal() NetworkPolicy {
	switch {
	case p.Mode != "":
	case len(p.Allow) > 0 || p.AllowDNS:
		p.Mode = NetworkAllowlist
	default:
		p.Mode = NetworkNone
	}
	return p
}

// LeadsOut tells whether anything beyond the container may be reached.
func (p NetworkPolicy) LeadsOut() bool {
	return p.Mode == NetworkAllowlist || p.Mode == NetworkFull
}

// Validate refuses a normal policy that cannot be meant, with a [*NetworkError].
// What an entry of the allow-list may be is the runtime's to say.
func (p NetworkPolicy) Validate() error {
	modes := []NetworkMode{NetworkNone, NetworkLocalhost, NetworkAllowlist, NetworkFull}
	switch {
	case !slices.Contains(modes, p.Mode):
		return &NetworkError{Field: "mode", Detail: fmt.Sprintf("unknown network mode %.80q: none, localhost, allowlist or full", string(p.Mode))}
	case len(p.Allow) > 0 && !p.LeadsOut():
		return &NetworkError{Field: "allow", Detail: fmt.Sprintf("network %s reaches nothing outside, so it has no allow-list; ask for network allowlist or full", p.Mode)}
	case p.AllowDNS && !p.LeadsOut():
		return &NetworkError{Field: "allow_dns", Detail: fmt.Sprintf("network %s resolves no names; ask for network allowlist", p.Mode)}
	}
	return nil
}

// NetworkError is a [NetworkPolicy] that cannot be meant: the request's fault.
type NetworkError struct {
	// Field is mode, allow or allow_dns.
	Field string
	// Detail is one sentence.
	Detail string
}

func (e *NetworkError) Error() string { return e.Detail }

// NetworkUse is what a process did with a network that leads out.
type NetworkUse struct {
	// Connections were made, and the bytes are what they have carried.
	Connections, BytesSent, BytesReceived int64
	// Queries are the names that were resolved although nothing can be connected
	// to there ([NetworkPolicy.AllowDNS]).
	Queries []string
	// Failures are what the policy allows and what did not work all the same,
	// such as a host that is down.
	Failures []string
}

// Add adds what another process of the run did.
func (u *NetworkUse) Add(more NetworkUse) {
	u.Connections += more.Connections
	u.BytesSent += more.BytesSent
	u.BytesReceived += more.BytesReceived
	u.Queries = append(u.Queries, more.Queries...)
	u.Failures = append(u.Failures, more.Failures...)
}
