// Package capacity is the ledger of what a server has running and waiting: how
// many runs, and how much memory was granted to them in all.
//
// A run that fits starts at once. One that does not waits, if there is a queue
// and room in it, and is refused otherwise. Tenants take turns in the queue, and
// none of them can take the last free places while others are about: one
// tenant's flood is answered with refusals to that tenant.
package capacity

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limits are what the operator gives. All are positive but Queue.
type Limits struct {
	// Runs is how many may run at a time.
	Runs int
	// MemoryBytes is how much memory the grants may add up to.
	MemoryBytes int64
	// Queue is how many may wait; 0 means that none does.
	Queue int
}

// Demand is what one run takes.
type Demand struct {
	// Tenant is who asks. The empty one is a tenant as well.
	Tenant string
	// MemoryBytes is the most that the run may use at any time.
	MemoryBytes int64
}

// FullError refuses a run that may be tried again later.
type FullError struct {
	// Reason is one sentence.
	Reason     string
	RetryAfter time.Duration
}

func (e *FullError) Error() string { return e.Reason }

// TooLargeError refuses a run that never fits.
type TooLargeError struct{ Bytes, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the run takes %d MiB of memory, and this server grants %d MiB to all runs together", e.Bytes>>20, e.Limit>>20)
}

// Load is the ledger at one moment.
type Load struct {
	Running, Waiting int
	MemoryBytes      int64
}

// Ledger counts. It is safe for concurrent use.
type Ledger struct {
	limits Limits

	mu      sync.Mutex // guards all below
	load    Load
	tenants map[string]*tenant
	turns   []*tenant // those that wait, the next one first
	passed  int64     // bytes granted to runs that have passed another
	average time.Duration
}

// New makes an empty ledger.
func New(limits Limits) *Ledger {
	return &Ledger{limits: limits, tenants: map[string]*tenant{}, average: time.Second}
}

// Limits are what the ledger was made with.
func (l *Ledger) Limits() Limits { return l.limits }

// Load tells what is running and waiting now.
func (l *Ledger) Load() Load {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.load
}

// Look refuses what [Ledger.Acquire] would refuse for want of places, without
// taking one: before a request has been read its memory is not known.
func (l *Ledger) Look(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	if t := l.tenant(name); l.room(t) || l.place(t) {
		return nil
	}
	return l.full()
}

// Acquire takes what the run needs, waiting for it where there is a queue. The
// grant must be released. The error is a [*FullError], a [*TooLargeError] or
// that of ctx.
func (l *Ledger) Acquire(ctx context.Context, d Demand) (*Grant, error) {
	if d.MemoryBytes > l.limits.MemoryBytes {
		return nil, &TooLargeError{d.MemoryBytes, l.limits.MemoryBytes}
	}
	w := &waiter{demand: d, since: time.Now(), granted: make(chan struct{})}
	if err := l.enter(w); err != nil {
		return nil, err
	}
	select {
	case <-w.granted:
	case <-ctx.Done():
		if l.leave(w) {
			return nil, ctx.Err()
		}
	}
	return &Grant{ledger: l, demand: d, Waited: w.at.Sub(w.since), at: w.at, passed: w.passed}, nil
}

// Grant is the right to run.
type Grant struct {
	// Waited is the time spent in the queue.
	Waited time.Duration

	ledger *Ledger
	demand Demand
	at     time.Time
	passed bool
	once   sync.Once
}

// Grow has the grant hold as much memory, if there is so much now: who holds something waits
// for nobody, who may wait for him. Else the grant stays as it is, and the error is a
// [*FullError] or a [*TooLargeError]. It is not for use beside Release.
func (g *Grant) Grow(memoryBytes int64) error {
	if memoryBytes > g.ledger.limits.MemoryBytes {
		return &TooLargeError{memoryBytes, g.ledger.limits.MemoryBytes}
	}
	if more := memoryBytes - g.demand.MemoryBytes; more > 0 {
		return g.ledger.grow(g, more)
	}
	return nil
}

// Release gives back what the run took. Further calls do nothing.
func (g *Grant) Release() { g.once.Do(func() { g.ledger.release(g) }) }
