package guest

import (
	"context"
	"errors"
	"sync"
)

// Alive are the containers of a runtime that were made and not removed. The zero
// value is empty and ready to use; it is safe for concurrent use.
type Alive struct {
	mu         sync.Mutex
	containers map[*Container]struct{}
	closed     bool
}

// Add takes a container on, or deletes it where the runtime is closed.
func (a *Alive) Add(ctx context.Context, c *Container) error {
	if a.add(c) {
		return nil
	}
	return errors.Join(errors.New("the runtime is closed"), c.Delete(ctx))
}

// add tells whether the runtime is still open. Deleting takes the container off
// again, so nobody may do that who holds mu.
func (a *Alive) add(c *Container) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	if a.containers == nil {
		a.containers = map[*Container]struct{}{}
	}
	a.containers[c] = struct{}{}
	return true
}

// Forget takes a container off, which need not be there.
func (a *Alive) Forget(c *Container) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.containers, c)
}

// Close deletes all of them, and every one that is added from now on.
func (a *Alive) Close(ctx context.Context) error {
	var errs []error
	for _, c := range a.close() {
		errs = append(errs, c.Delete(ctx))
	}
	return errors.Join(errs...)
}

func (a *Alive) close() (all []*Container) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for c := range a.containers {
		all = append(all, c)
	}
	return all
}
