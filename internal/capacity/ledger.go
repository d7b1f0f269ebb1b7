package capacity

import (
	"slices"
	"time"
)

// remembered is how long a tenant counts as being about after its last run.
const remembered = time.Minute

// tenant is the share of one tenant.
type tenant struct {
	name    string
	running int
	memory  int64 // bytes granted
	waiting []*waiter
	last    time.Time // when it last ran or asked
}

// waiter is a run that has asked.
type waiter struct {
	demand  Demand
	since   time.Time
	at      time.Time // when it was granted
	granted chan struct{}
}

// enter grants w, or queues it, or refuses it.
func (l *Ledger) enter(w *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	t := l.tenant(w.demand.Tenant)
	if len(l.turns) == 0 && l.fits(t, w) {
		l.grant(t, w)
		return nil
	}
	if l.load.Waiting >= l.limits.Queue {
		// A tenant within its share need not wait for others who are over theirs.
		if l.blocked() && l.fits(t, w) {
			l.grant(t, w)
			return nil
		}
		return l.full()
	}
	if len(t.waiting) == 0 {
		l.turns = append(l.turns, t)
	}
	t.waiting = append(t.waiting, w)
	l.load.Waiting++
	l.advance()
	return nil
}

// leave takes a waiter whose caller has gone out of the queue. It is false when
// the grant came first: then the caller must release it.
func (l *Ledger) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenants[w.demand.Tenant]
	if t == nil {
		return false
	}
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	l.load.Waiting--
	if len(t.waiting) == 0 {
		l.turns = slices.DeleteFunc(l.turns, func(other *tenant) bool { return other == t })
	}
	l.advance() // it may have been the one that did not fit
	return true
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
	l.average += (time.Since(g.at) - l.average) / 8
	l.advance()
}

// advance grants what fits, in turns between tenants. A tenant over its share is
// passed over; a run that only its memory holds up keeps its turn, or a large
// one would never start.
func (l *Ledger) advance() {
	for i := 0; i < len(l.turns); {
		t := l.turns[i]
		w := t.waiting[0]
		if !l.place(t) || !l.modest(t, w) {
			i++
			continue
		}
		if l.load.MemoryBytes+w.demand.MemoryBytes > l.limits.MemoryBytes {
			return
		}
		t.waiting = t.waiting[1:]
		l.load.Waiting--
		l.turns = slices.Delete(l.turns, i, i+1)
		if len(t.waiting) > 0 {
			l.turns = append(l.turns, t)
		}
		l.grant(t, w)
		i = 0
	}
}

// blocked tells whether all that wait are over their share.
func (l *Ledger) blocked() bool {
	return !slices.ContainsFunc(l.turns, func(t *tenant) bool { return l.place(t) && l.modest(t, t.waiting[0]) })
}

func (l *Ledger) grant(t *tenant, w *waiter) {
	t.running++
	t.memory += w.demand.MemoryBytes
	l.load.Running++
	l.load.MemoryBytes += w.demand.MemoryBytes
	w.at = time.Now()
	t.last = w.at
	close(w.granted)
}

func (l *Ledger) fits(t *tenant, w *waiter) bool {
	return l.place(t) && l.modest(t, w) && l.load.MemoryBytes+w.demand.MemoryBytes <= l.limits.MemoryBytes
}

// place tells whether a place is free for the tenant. One that has its share of
// the places leaves an eighth of all of them, and at least one, to the others.
func (l *Ledger) place(t *tenant) bool {
	free := l.limits.Runs - l.load.Running
	if free <= 0 {
		return false
	}
	share := max(1, l.limits.Runs/len(l.tenants))
	if t.running < share || len(l.tenants) == 1 {
		return true
	}
	return free > max(1, l.limits.Runs/8)
}

// modest is [Ledger.place] for memory.
func (l *Ledger) modest(t *tenant, w *waiter) bool {
	after := t.memory + w.demand.MemoryBytes
	if len(l.tenants) == 1 || t.running == 0 || after <= l.limits.MemoryBytes/int64(len(l.tenants)) {
		return true
	}
	return l.load.MemoryBytes+w.demand.MemoryBytes <= l.limits.MemoryBytes/8*7
}

func (l *Ledger) tenant(name string) *tenant {
	t, ok := l.tenants[name]
	if !ok {
		t = &tenant{name: name}
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
