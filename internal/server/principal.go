package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// WithPeer says that a connection comes over the unix socket from a user of this
// machine, who needs no key: the socket's mode has let that user in.
func WithPeer(ctx context.Context, uid uint32) context.Context {
	return context.WithValue(ctx, peerKey, uid)
}

// principal finds who calls.
func (s *Server) principal(r *http.Request) (auth.Principal, error) {
	if uid, ok := r.Context().Value(peerKey).(uint32); ok {
		return auth.Principal{Tenant: fmt.Sprintf("uid:%d", uid)}, nil
	}
	if s.Keys == nil || fault.Off("door", "keys") {
		return auth.Principal{}, nil
	}
	p, err := s.Keys.Authenticate(r.Header)
	if err != nil {
		return p, &api.Problem{Type: wire.TypeKey, Status: http.StatusUnauthorized, Detail: err.Error()}
	}
	return p, nil
}

// charge takes a run from the limits of a key; it is nil where there is none.
func (s *Server) charge(p auth.Principal) (*auth.Run, error) {
	if s.Keys == nil || p.KeyID == "" {
		return nil, nil
	}
	return s.Keys.Admit(p)
}

// used is the CPU time of all phases, in seconds, or what is known instead.
func used(result *api.Result) float64 {
	if result == nil {
		return 0
	}
	var seconds float64
	for _, phase := range result.Phases {
		switch m := phase.Metrics; {
		case m.CPUTimeS != nil:
			seconds += *m.CPUTimeS
		case m.WallTimeS != nil:
			seconds += *m.WallTimeS
		}
	}
	return seconds
}

// limitTypes are the types of the problems of a key that has used up its limits.
var limitTypes = map[auth.LimitKind]string{
	auth.LimitRate:        wire.TypeRate,
	auth.LimitConcurrency: wire.TypeCapacity,
	auth.LimitRuns:        wire.TypeQuota,
	auth.LimitCPU:         wire.TypeQuota,
}
