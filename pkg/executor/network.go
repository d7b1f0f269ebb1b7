package executor

import (
	"errors"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
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

// unreached are the last words of programs that have looked for a network and found none. Nothing
// else tells of it: the kernel refuses the socket by itself.
var unreached = lazyregexp.New(`Address family not supported by protocol|EAFNOSUPPORT|EAI_AGAIN|ENOTFOUND|gaierror|UnknownHostException|` +
	`[Nn]ame resolution|[Cc]ould not resolve host|failed to lookup address|dial (tcp|udp)`)

// networkHint explains the failure of a program that has no network, or is empty. state is how
// well that is held.
func (r *run) networkHint(ph *phase, state string) string {
	if ph.name != api.PhaseRun || ph.verdict.status != api.StatusRuntimeError || r.req.Network.Normal().Mode != sandbox.NetworkNone ||
		state == api.Absent || !unreached().MatchString(ph.lastWords()) {
		return ""
	}
	return "the program has no network, since none was asked for: name what it may reach, with --allow or in network.allow"
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
