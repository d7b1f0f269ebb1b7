package server

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// strength orders the levels. Auto is the strongest that works here, and a caller
// who names restricted asks for less than the operator gives with it.
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
	if err := s.boundImports(req); err != nil {
		return err
	}
	return boundNetwork(req.Network)
}

// boundIsolation: a caller may only ask for stronger walls.
func (s *Server) boundIsolation(req *executor.Request) error {
	level, err := s.level(req.Isolation)
	if err != nil {
		return forbidden("/isolation", err.Error())
	}
	req.Isolation = level
	return nil
}

// level is what was asked for, or what the operator gives. The strongest that works is never less
// than that.
func (s *Server) level(asked sandbox.Level) (sandbox.Level, error) {
	least := s.least()
	if asked == "" || asked == sandbox.LevelAuto && strength[least] > strength[asked] {
		asked = least
	}
	if n, known := strength[asked]; (!known || n < strength[least]) && !fault.Off("door", "isolation") {
		return asked, fmt.Errorf("isolation %s is weaker than this server's, which is %s", asked, least)
	}
	return asked, nil
}

// least is the weakest level that a caller gets.
func (s *Server) least() sandbox.Level { return cmp.Or(s.Isolation, sandbox.LevelAuto) }

// boundImports: a caller may only be stricter. What it names to block comes beside
// what the operator blocks.
func (s *Server) boundImports(req *executor.Request) error {
	own := s.Imports.For("", false, req.Isolation)
	if asked := s.Imports.For(req.Imports, len(req.BlockImports) > 0, req.Isolation); asked.LaxerThan(own) {
		return forbidden("/policy/imports", fmt.Sprintf("the import policy %s is laxer than this server's, which is %s", asked, own))
	}
	return nil
}

// boundNetwork: a caller may open the public internet, and nothing that is closed
// unless it is named: this machine's services, its cloud's secrets and the
// networks that it is in are the operator's.
func boundNetwork(p sandbox.NetworkPolicy) error {
	if len(p.Allow) == 0 || fault.Off("door", "addresses") {
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
