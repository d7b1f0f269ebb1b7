package tunnel

import "context"

// ViaHeader names the servers that a request has come through, one a line: a server
// that finds itself among them is its own remote.
const ViaHeader = "Sandbox-Via"

// MaxVia is how many there may be.
const MaxVia = 4

type viaKey struct{}

// WithVia says that what is done under ctx is done for these servers.
func WithVia(ctx context.Context, nodes []string) context.Context {
	return context.WithValue(ctx, viaKey{}, nodes)
}

// Via are those servers.
func Via(ctx context.Context) []string {
	nodes, _ := ctx.Value(viaKey{}).([]string)
	return nodes
}
