package executor

import (
	"errors"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// checkNetwork fills in the network's mode and refuses what cannot be meant.
func (r *run) checkNetwork() error {
	r.req.Network = r.req.Network.Normal()
	r.req.Network.HostProxy = false // for installers
	if err := r.req.Network.Validate(); err != nil {
		return refused(err)
	}
	return nil
}

// networkFault is the caller's error in a network policy, or nil.
func networkFault(err error) *InputError {
	var fault *sandbox.NetworkError
	if !errors.As(err, &fault) {
		return nil
	}
	return &InputError{Kind: InputInvalid, Field: "/network/" + fault.Field, Detail: fault.Detail}
}

// networkMeta is the network of the run phase, and what all phases did with
// theirs.
func (r *run) networkMeta() api.NetworkMeta {
	var use sandbox.NetworkUse
	for _, ph := range r.phases {
		use.Add(ph.exit.Network)
	}
	policy := r.req.Network.Normal()
	return api.NetworkMeta{
		Mode: string(policy.Mode), Allow: policy.Allow, AllowDNS: policy.AllowDNS,
		Connections: use.Connections, BytesSent: use.BytesSent, BytesReceived: use.BytesReceived,
		Queries: use.Queries, Failures: use.Failures,
	}
}
