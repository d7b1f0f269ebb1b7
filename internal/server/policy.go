package server

import (
	"fmt"
	"net/http"

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

// bound holds a request to the operator's policy: a caller may only ask for
// stronger walls.
func (s *Server) bound(req *executor.Request) error {
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
	detail := fmt.Sprintf("isolation %s is weaker than this server's, which is %s", req.Isolation, least)
	return &api.Problem{Type: wire.TypeForbidden, Status: http.StatusForbidden, Detail: detail,
		Errors: []api.ProblemError{{Pointer: "/isolation", Detail: detail}}}
}
