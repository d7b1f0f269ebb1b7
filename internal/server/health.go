package server

import (
	"context"
	"net/http"
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
	if c, err := s.abilities(ctx); err == nil && len(c.Levels) > 0 {
		h.Runtimes[s.Runtime.Name()] = string(c.Levels[0])
	}
	for _, l := range s.catalogue(ctx).Languages {
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

// ready answers 200 when programs can be run here, however busy it is.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	c, err := s.abilities(ctx)
	switch {
	case s.draining.Load():
		s.answer(w, http.StatusServiceUnavailable, "application/json", map[string]string{"status": "draining"})
	case err != nil || !runs(c):
		s.answer(w, http.StatusServiceUnavailable, "application/json", map[string]string{"status": "no usable runtime"})
	default:
		s.answer(w, http.StatusOK, "application/json", map[string]string{"status": "ok"})
	}
}

// abilitiesAge is how old an answer may be that the runtime has given of itself.
const abilitiesAge = time.Second

// abilities are what the runtime can do: to find out may take containers.
func (s *Server) abilities(ctx context.Context) (sandbox.Capabilities, error) {
	return s.able.get(ctx, abilitiesAge, func(ctx context.Context) (sandbox.Capabilities, error) {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		return s.Runtime.Probe(ctx)
	})
}

// runs tells whether anything can be run in a sandbox.
func runs(c sandbox.Capabilities) bool {
	return len(c.Levels) > 0 && c.Levels[0] != sandbox.LevelNone
}
