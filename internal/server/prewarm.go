package server

import (
	"context"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// resting is for how long nobody asks for anything where nobody will soon, it seems.
const resting = 3 * time.Second

// Prewarm has containers ready for what requests ask for that say nothing of walls and
// limits. What has to be prepared for that once, on all cores, is when nobody asks for anything.
func (s *Server) Prewarm(ctx context.Context) {
	usual := executor.Request{}
	if err := s.bound(&usual); err != nil {
		return
	}
	for _, left := range s.Executor.Prewarm(ctx, usual) {
		if s.rests(ctx) {
			s.Executor.Prepare(ctx, left)
		}
	}
}

// rests waits until nobody has asked for anything for some time. It tells whether that came.
func (s *Server) rests(ctx context.Context) bool {
	tick := time.NewTicker(resting)
	defer tick.Stop()
	for before := int64(-1); ; {
		placed := s.placed.Load()
		if placed == before && !s.Busy() {
			return true
		}
		before = placed
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}
