package docker

import (
	"context"
	"net/netip"
	"net/url"
)

// Options say which engine to use, and how.
type Options struct {
	// Host is the engine's address, as DOCKER_HOST has it; empty means that variable,
	// the current context of the docker command, or the usual socket.
	Host string
	// Images are the roots of containers by their language, Image that of all others
	// that ask for none.
	Images map[string]string
	Image  string
	// Runtime is an OCI runtime that the engine knows, such as runsc or kata; empty
	// means its default.
	Runtime string
	// CPULimit and MemoryLimitBytes are the most that a container gets, whatever is
	// asked for; 0 means no such ceiling.
	CPULimit         float64
	MemoryLimitBytes int64
	// Resolver looks up the names that programs may reach; nil is this host's.
	Resolver Resolver
	// Proxy chooses the HTTP proxy for processes that are to use the host's
	// ([sandbox.NetworkPolicy.HostProxy]), by a URL of which only scheme and host
	// are set; nil, or a nil answer, connects directly.
	Proxy func(*url.URL) (*url.URL, error)
	// StrictVersions refuses versions of the engine, its OCI runtime and the kernel that
	// have a known hole; without it, warnings name them.
	StrictVersions bool
	// Getenv reads the environment, for the variables of the docker command
	// (DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, HOME); nil means that there is none.
	Getenv func(name string) string
	// Notify is told of slow preparations, such as pulling an image; it may be nil.
	Notify func(message string)
}

// Resolver looks names up. [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}
