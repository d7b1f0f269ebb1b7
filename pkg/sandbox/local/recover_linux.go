package local

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// recovery is how a runtime gets over what has failed, so that it failed for one run.
type recovery struct {
	mu      sync.Mutex
	spawner *spawn.Server
	undone  []func() error // removals that have failed, to be tried again
	trying  bool
	tries   sync.WaitGroup
}

// fork makes an init, and tells which spawner waits for its end. A spawner that has
// ended, whatever has ended it, is replaced: what it held is dead, and the next run need
// not be.
func (r *recovery) fork(n spawn.Namespaced) (*spawn.Init, *spawn.Server, error) {
	for first := true; ; first = false {
		r.mu.Lock()
		spawner := r.spawner
		r.mu.Unlock()
		init, err := spawner.Fork(n)
		if !errors.Is(err, spawn.ErrGone) || !first {
			return init, spawner, err
		}
		if err := r.replace(spawner); err != nil {
			return nil, nil, fmt.Errorf("start another spawner: %w", err)
		}
	}
}

// replace starts a spawner in the place of one that has ended, unless somebody else has.
func (r *recovery) replace(ended *spawn.Server) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spawner != ended {
		return nil
	}
	another, err := startSpawner()
	if err != nil {
		return err
	}
	r.spawner = another
	return ended.Close()
}

// tryAgain has removals that have failed tried again, beside those that failed before and
// not in the way of any run.
func (r *recovery) tryAgain(failed ...func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undone = append(r.undone, failed...)
	if len(r.undone) == 0 || r.trying {
		return
	}
	r.trying = true
	r.tries.Go(func() {
		r.mu.Lock()
		undone := r.undone
		r.undone = nil
		r.mu.Unlock()
		undone = slices.DeleteFunc(undone, func(remove func() error) bool { return remove() == nil })
		r.mu.Lock()
		defer r.mu.Unlock()
		r.undone = append(undone, r.undone...)
		r.trying = false
	})
}
