package local

import (
	"context"
	"net/netip"
	"net/url"
)

// Options say where a [Runtime] keeps what it needs.
type Options struct {
	// RuntimeDir holds the files that tell which processes of ours are alive.
	// Empty means /run/sandbox-run for root, and a directory of the user's own
	// otherwise.
	RuntimeDir string
	// NoCgroups leaves control groups alone, as on a host that grants none.
	NoCgroups bool
	// NoRedirect does without nftables, as on a kernel that has none: a network
	// that leads out then has a listener on each port that its allow-list names.
	NoRedirect bool
	// ImageDir is the store of images that containers may have in place of the host's
	// toolchains; see internal/image. Empty is none.
	ImageDir string
	// PullImages gets images that are not in the store from their registries.
	PullImages bool
	// Notify, if not nil, is told how far a pull is. It may be called from several
	// goroutines.
	Notify func(string)
	// Resolver looks up the names that programs may reach; nil is this host's.
	Resolver Resolver
	// Proxy chooses the HTTP proxy for processes that are to use the host's
	// ([sandbox.NetworkPolicy.HostProxy]), by a URL of which only scheme and host
	// are set; nil, or a nil answer, connects directly.
	Proxy func(*url.URL) (*url.URL, error)
	// Many makes at once what many containers have in common, some milliseconds that one would not
	// be worth.
	Many bool
	// StrictVersions refuses a kernel that has a known hole; without it, warnings name
	// it.
	StrictVersions bool
}

// Resolver looks names up. [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}
