// Package alive keeps what a runtime has alive: the containers that were made and not
// removed, so that closing the runtime deletes them, and how their processes end.
package alive

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is that a container was made while its runtime closed.
var ErrClosed = errors.New("the runtime is closed")

// Container is what a list is of. Deleting one takes it off the list.
type Container interface {
	comparable
	Delete(ctx context.Context) error
}

// List is the containers of one runtime. The zero value is empty and ready to use; it
// is safe for concurrent use.
type List[C Container] struct {
	mu         sync.Mutex
	containers map[C]struct{}
	closed     bool
}

// Add takes a container on, or deletes it, with [ErrClosed], where the runtime is
// closed.
func (l *List[C]) Add(ctx context.Context, c C) error {
	if l.add(c) {
		return nil
	}
	return errors.Join(ErrClosed, c.Delete(context.WithoutCancel(ctx)))
}

// add tells whether the runtime is still open. Deleting takes the container off
// again, so nobody may do that who holds mu.
func (l *List[C]) add(c C) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.containers == nil {
		l.containers = map[C]struct{}{}
	}
	l.containers[c] = struct{}{}
	return true
}

// Forget takes a container off, which need not be there.
func (l *List[C]) Forget(c C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.containers, c)
}

// Close deletes all of them at once, and every one that is added from now on.
func (l *List[C]) Close(ctx context.Context) error {
	left := l.close()
	errs := make([]error, len(left))
	var all sync.WaitGroup
	for i, c := range left {
		all.Go(func() { errs[i] = c.Delete(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (l *List[C]) close() (left []C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.containers {
		left = append(left, c)
	}
	return left
}
