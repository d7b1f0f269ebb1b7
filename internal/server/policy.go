package server

import (
	"fmt"
	"net/http"

	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// strength orders the levels. Auto is the strongest that works here, and a caller
// who names a weaker one asks for less than the operator gives.
var strength = map[sandbox.Level]int{
	sandbox.LevelNone:       0,
	sandbox.LevelRestricted: 1,
	sandbox.LevelAuto:       2,
	sandbox.LevelFull:       3,
}

// bound holds a request to the operator's policy.
func (s *Server) bound(req *executor.Request) error {
	if err := s.boundIsolation(req); err != nil {
		return err
	}
	return boundNetwork(req.Network)
}

// boundIsolation: a caller may only ask for stronger walls.
func (s *Server) boundIsolation(req *executor.Request) error {
	least := s.Isolation
	if least == "" {
		least = sandbox.LevelAuto
	}
	if req.Isolation == "" {
		req.Isolation = least
	}
	asked, known := strength[req.Isolation]
	if known && asked >= strength[least] {
		return nil
	}
	return forbidden("/isolation", fmt.Sprintf("isolation %s is weaker than this server's, which is %s", req.Isolation, least))
}

// boundNetwork: a caller may open the public internet, and nothing that is closed
// unless it is named: this machine's services, its cloud's secrets and the
// networks that it is in are the operator's.
func boundNetwork(p sandbox.NetworkPolicy) error {
	if len(p.Allow) == 0 {
		return nil
	}
	asked, err := relay.Parse(relay.Rules{Allow: p.Allow})
	if err != nil {
		return wire.Invalid(api.ProblemError{Pointer: "/network/allow", Detail: err.Error()})
	}
	public, err := relay.Parse(relay.Rules{Full: true})
	if err != nil {
		return err
	}
	own, err := relay.HostAddresses()
	if err != nil {
		return fmt.Errorf("cannot tell this host's own addresses: %w", err)
	}
	if err := asked.Within(public, own); err != nil {
		return forbidden("/network/allow", err.Error())
	}
	return nil
}

func forbidden(pointer, detail string) error {
	return &api.Problem{Type: wire.TypeForbidden, Status: http.StatusForbidden, Detail: detail,
		Errors: []api.ProblemError{{Pointer: pointer, Detail: detail}}}
}
