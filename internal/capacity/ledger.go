package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// remembered is how long a tenant counts as being about after its last run.
const remembered = time.Minute

// tenant is the share of one tenant.
type tenant struct {
	running int
	memory  int64 // bytes granted
	waiting []*waiter
	last    time.Time // when it last ran or asked
}

// waiter is a run that has asked.
type waiter struct {
	demand  Demand
	since   time.Time
	at      time.Time // when it was granted; zero while it waits
	passed  bool      // it was granted before one whose turn it was
	granted chan struct{}
}

// enter grants w, or queues it, or refuses it.
func (l *Ledger) enter(w *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	t := l.tenant(w.demand.Tenant)
	room := l.room(t)
	if len(t.waiting) == 0 {
		l.turns = append(l.turns, t)
	}
	t.waiting = append(t.waiting, w)
	l.load.Waiting++
	l.advance()
	if w.at.IsZero() && !room {
		l.drop(t, w)
		return l.full()
	}
	return nil
}

// leave takes a waiter whose caller has gone out of the queue. It is false when
// the grant came first: then the caller must release it.
func (l *Ledger) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.at.IsZero() {
		return false
	}
	l.drop(l.tenants[w.demand.Tenant], w)
	l.advance() // it may have been the one that did not fit
	return true
}

// drop takes a waiter out of the queue.
func (l *Ledger) drop(t *tenant, w *waiter) {
	t.waiting = slices.DeleteFunc(t.waiting, func(other *waiter) bool { return other == w })
	l.load.Waiting--
	if len(t.waiting) == 0 {
		l.turns = slices.DeleteFunc(l.turns, func(other *tenant) bool { return other == t })
	}
}

func (l *Ledger) release(g *Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenants[g.demand.Tenant]
	t.running--
	t.memory -= g.demand.MemoryBytes
	t.last = time.Now()
	l.load.Running--
	l.load.MemoryBytes -= g.demand.MemoryBytes
	if g.passed {
		l.passed -= g.demand.MemoryBytes
	}
	l.average += (time.Since(g.at) - l.average) / 8
	l.advance()
}

// grow adds to a grant. One that has passed another takes nothing more of what that waits for.
func (l *Ledger) grow(g *Grant, more int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenants[g.demand.Tenant]
	alone := l.load.Running == 1
	if l.load.MemoryBytes+more > l.limits.MemoryBytes || !alone && !l.modest(t, more) || g.passed && len(l.turns) > 0 {
		return &FullError{Reason: fmt.Sprintf("%d MiB of memory more are not free; try again later", more>>20), RetryAfter: time.Second}
	}
	g.demand.MemoryBytes += more
	t.memory += more
	l.load.MemoryBytes += more
	if g.passed {
		l.passed += more
	}
	return nil
}

// advance grants what fits, in turns between tenants. A tenant over its share is
// passed over. A run that only its memory holds up keeps its turn, or a large one
// would never start: others pass it as long as all that pass fit beside it, so that
// it waits for those alone that were there before it.
func (l *Ledger) advance() {
	var held *waiter
	for i := 0; i < len(l.turns); i++ {
		t := l.turns[i]
		w := t.waiting[0]
		if !l.place(t) || !l.modest(t, w.demand.MemoryBytes) {
			continue
		}
		if l.load.MemoryBytes+w.demand.MemoryBytes > l.limits.MemoryBytes {
			held = cmp.Or(held, w)
			continue
		}
		if w.passed = held != nil; w.passed {
			if l.passed+w.demand.MemoryBytes > l.limits.MemoryBytes-held.demand.MemoryBytes {
				continue
			}
			l.passed += w.demand.MemoryBytes
		}
		l.grant(t, w)
		held, i = nil, -1 // from the start: whose turn it is may have changed
	}
}

// grant takes a waiter out of the queue, and puts its tenant behind the others.
func (l *Ledger) grant(t *tenant, w *waiter) {
	l.drop(t, w)
	if len(t.waiting) > 0 {
		l.turns = append(slices.DeleteFunc(l.turns, func(other *tenant) bool { return other == t }), t)
	}
	t.running++
	t.memory += w.demand.MemoryBytes
	l.load.Running++
	l.load.MemoryBytes += w.demand.MemoryBytes
	w.at = time.Now()
	t.last = w.at
	close(w.granted)
}

// place tells whether a place is free for the tenant, and room the same of the
// queue.
func (l *Ledger) place(t *tenant) bool { return l.free(l.limits.Runs, l.load.Running, t.running) }
func (l *Ledger) room(t *tenant) bool {
	return l.free(l.limits.Queue, l.load.Waiting, len(t.waiting))
}

// free tells whether one is free of so many in all for a tenant that has some of
// those that are taken. One that has its share leaves an eighth of all, and at least
// one, to the others.
func (l *Ledger) free(all, taken, has int) bool {
	share := max(1, all/len(l.tenants))
	return taken < all && (has < share || len(l.tenants) == 1 || all-taken > max(1, all/8))
}

// modest is the same for memory. A tenant that has nothing may have more than its
// share at once, but the last eighth only when nobody runs.
func (l *Ledger) modest(t *tenant, memory int64) bool {
	most := l.limits.MemoryBytes / 8 * 7
	switch {
	case len(l.tenants) == 1 || l.load.Running == 0:
		return true
	case t.memory+memory <= l.limits.MemoryBytes/int64(len(l.tenants)):
		return true
	case t.running == 0:
		return memory <= most
	}
	return l.load.MemoryBytes+memory <= most
}

func (l *Ledger) tenant(name string) *tenant {
	t, ok := l.tenants[name]
	if !ok {
		t = &tenant{}
		l.tenants[name] = t
	}
	t.last = time.Now()
	return t
}

// forget drops tenants that are not about any more.
func (l *Ledger) forget() {
	for name, t := range l.tenants {
		if t.running == 0 && len(t.waiting) == 0 && time.Since(t.last) > remembered {
			delete(l.tenants, name)
		}
	}
}

// full is the refusal, with a guess when a place will be free.
func (l *Ledger) full() error {
	reason := "every place for a run is taken"
	if l.limits.Queue > 0 {
		reason = "every place for a run is taken, and the queue is full"
	}
	ahead := 1 + l.load.Waiting
	wait := l.average * time.Duration(ahead) / time.Duration(l.limits.Runs)
	return &FullError{Reason: reason + "; try again later", RetryAfter: min(max(wait, time.Second), time.Minute)}
}
