package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// probeTimeout bounds what a health check may wait for.
const probeTimeout = 5 * time.Second

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	load, limits := s.Ledger.Load(), s.Ledger.Limits()
	h := api.Health{
		Status: "ok", Version: s.Version,
		Capacity: limits.Runs, Load: load.Running, Queued: load.Waiting,
		MemoryCapacityMB: limits.MemoryBytes >> 20, MemoryGrantedMB: load.MemoryBytes >> 20,
		UptimeSeconds: time.Since(s.began).Seconds(),
		Runtimes:      map[string]string{}, Languages: map[string]string{}, Warm: s.Executor.Warm(),
	}
	if c, err := s.abilities.get(ctx, s.Runtime); err == nil && len(c.Levels) > 0 {
		h.Runtimes[s.Runtime.Name()] = string(c.Levels[0])
	}
	for _, l := range s.catalogue.get(ctx, s.Executor).Languages {
		if l.Available {
			h.Languages[l.Name] = l.Versions[0]
		}
	}
	status := http.StatusOK
	if s.draining.Load() {
		h.Status, status = "draining", http.StatusServiceUnavailable
	}
	s.answer(w, status, "application/json", h)
}

// live answers as long as the process does.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, http.StatusOK, "application/json", map[string]string{"status": "ok"})
}

// ready answers 200 when a run would be accepted.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	c, err := s.abilities.get(ctx, s.Runtime)
	switch {
	case s.draining.Load():
		s.answer(w, http.StatusServiceUnavailable, "application/json", map[string]string{"status": "draining"})
	case err != nil || !runs(c):
		s.answer(w, http.StatusServiceUnavailable, "application/json", map[string]string{"status": "no usable runtime"})
	default:
		s.answer(w, http.StatusOK, "application/json", map[string]string{"status": "ok"})
	}
}

// abilities remembers for a moment what the runtime can do: to find out may take containers, and
// whoever has no key asks for it as often as he likes.
type abilities struct {
	mu     sync.Mutex
	since  time.Time
	known  sandbox.Capabilities
	err    error
	asking chan struct{} // closed when the answer is there; nil while nobody asks
}

// abilitiesAge is how old an answer may be.
const abilitiesAge = time.Second

// get is the answer, or why the caller waits no longer. Who comes while the runtime is asked waits
// for the same answer, and a caller who goes away takes nobody's with him.
func (a *abilities) get(ctx context.Context, rt sandbox.Runtime) (sandbox.Capabilities, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking == nil && (a.since.IsZero() || time.Since(a.since) > abilitiesAge) {
		a.asking = make(chan struct{})
		go a.ask(context.WithoutCancel(ctx), rt)
	}
	if asking := a.asking; asking != nil {
		a.mu.Unlock()
		select {
		case <-asking:
		case <-ctx.Done():
		}
		a.mu.Lock()
		if err := ctx.Err(); err != nil {
			return sandbox.Capabilities{}, err
		}
	}
	return a.known, a.err
}

func (a *abilities) ask(ctx context.Context, rt sandbox.Runtime) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	known, err := rt.Probe(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known, a.err, a.since = known, err, time.Now()
	close(a.asking)
	a.asking = nil
}

// runs tells whether anything can be run in a sandbox.
func runs(c sandbox.Capabilities) bool {
	return len(c.Levels) > 0 && c.Levels[0] != sandbox.LevelNone
}
