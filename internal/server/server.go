package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Options are what a [Server] is made of.
type Options struct {
	Executor *executor.Executor
	Runtime  sandbox.Runtime
	Ledger   *capacity.Ledger
	// Keys tell who calls; nil lets everybody in, as on loopback without keys.
	Keys *auth.Authenticator
	// Store keeps a line of every run; nil keeps none.
	Store *store.Store
	Log   *slog.Logger
	// Version is that of the program.
	Version string
	// Isolation is the weakest level that a caller gets; empty means auto.
	Isolation sandbox.Level
	// Imports is the laxest policy for imports that a caller gets: the executor's.
	Imports executor.ImportPolicy
	// MaxBodyBytes bounds a request body.
	MaxBodyBytes int64
	// BodyTimeout is how long a body may take to arrive, AnswerTimeout how long an
	// answer may wait for its reader; 0 means a minute, and 30 seconds.
	BodyTimeout, AnswerTimeout time.Duration
	// Containers are what other servers may have here; nil gives them nothing.
	Containers *Containers
	// LoopbackOnly refuses requests that a web page elsewhere could have made:
	// those for another host name or from another origin.
	LoopbackOnly bool
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	Options
	decoder  *wire.Decoder
	document []byte
	metrics  *metrics
	bodies   *bodies
	node     string         // tells this server from others
	guests   sync.WaitGroup // containers of other servers
	arriving arriving       // connections that they are to have
	versions versionCache   // of toolchains, for them
	began    time.Time
	removals sync.WaitGroup // of containers whose runs were answered
	removing atomic.Int64   // how many of them there are
	draining atomic.Bool
	placing  atomic.Int64    // requests on their way to the ledger
	placed   atomic.Int64    // how many there were
	runs     context.Context // of every run; done when those that go on must end
	endRuns  context.CancelFunc
	handler  http.Handler

	listed remembered[api.Languages]
	able   remembered[sandbox.Capabilities]
}

// New makes a server. What runs does so with the values of ctx, and not until its
// end.
func New(ctx context.Context, o Options) (*Server, error) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	o.BodyTimeout, o.AnswerTimeout = cmp.Or(o.BodyTimeout, bodyTimeout), cmp.Or(o.AnswerTimeout, answerTimeout)
	s := &Server{
		Options: o,
		decoder: wire.NewDecoder(registry),
		metrics: newMetrics(o.Ledger, o.Executor),
		bodies:  newBodies(bodyShare * o.MaxBodyBytes),
		node:    newNode(),
		began:   time.Now(),
	}
	s.runs, s.endRuns = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if s.document, err = s.openAPI(registry); err != nil {
		return nil, err
	}
	s.handler = s.routes()
	return s, nil
}

// routes are all that the server answers.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	rendered := docs()
	mux.HandleFunc("POST /execute", s.execute)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /livez", s.live)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", s.keyed(s.metrics.handler()))
	mux.Handle("GET /v1/languages", s.keyed(http.HandlerFunc(s.languages)))
	s.runtimeRoutes(mux)
	mux.HandleFunc("GET /openapi.json", s.openAPIDocument)
	mux.Handle("GET /docs", rendered)
	mux.Handle("GET /docs/", rendered)
	return s.around(mux)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Drain makes the server refuse new runs and say so.
func (s *Server) Drain() { s.draining.Store(true) }

// Busy tells whether anything runs, waits for its place, or is about to. Once it does not, nothing
// begins any more where [Server.Drain] was called before.
func (s *Server) Busy() bool {
	if s.placing.Load() > 0 { // looked at first: who is not in it any more is in the ledger
		return true
	}
	load := s.Ledger.Load()
	return load.Running+load.Waiting > 0
}

// EndRuns cancels what still runs. Each is answered with what it had written.
func (s *Server) EndRuns() { s.endRuns() }

// Wait returns when nothing is left of what was answered and no container of another
// server, or when ctx is done.
func (s *Server) Wait(ctx context.Context) {
	gone := make(chan struct{})
	go func() { s.removals.Wait(); s.guests.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}
