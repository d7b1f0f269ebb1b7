package oci

import (
	"context"
	"net/netip"
	"net/url"
)

// Options say which runtime to drive and where to keep what it needs.
type Options struct {
	// Program is the runtime: a name that is looked up on PATH, or a path. Empty
	// means the first of crun and runc that is there.
	Program string
	// Args are put before the runtime's verb, e.g. --platform=systrap of runsc.
	Args []string
	// RuntimeDir holds the files that tell which processes of ours are alive. Empty
	// means /run/sandbox-run, which all runtimes share.
	RuntimeDir string
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
	// StrictVersions refuses versions of the runtime and the kernel that have a known
	// hole; without it, warnings name them.
	StrictVersions bool
}

// Resolver looks names up. [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}
