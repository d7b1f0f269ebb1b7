package auth

import (
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// LimitKind says which limit was reached.
type LimitKind string

// The kinds of a [LimitError].
const (
	LimitRate        LimitKind = "rate"
	LimitConcurrency LimitKind = "concurrency"
	LimitRuns        LimitKind = "runs_quota"
	LimitCPU         LimitKind = "cpu_quota"
)

// LimitError is a key that has used up what it may: status 429.
type LimitError struct {
	Kind LimitKind
	// RetryAfter is when another attempt makes sense, always more than zero. For
	// concurrency it is a guess.
	RetryAfter time.Duration
	// Detail is one sentence: which limit, how much is used, when it is free.
	Detail string
}

func (e *LimitError) Error() string { return e.Detail }

// Admit asks whether a key may start a run now. When it may, the caller must release
// the run at the end.
//
// Every call counts for the rate. The quota of CPU time is checked before a run
// and charged after it, so that runs side by side may end above it; runs under
// way count for the quota of runs. A run belongs to the UTC day of its start.
//
// A principal without limits, as the zero value is, is always admitted. The error
// is a [*LimitError].
func (a *Authenticator) Admit(p Principal) (*Run, error) {
	m := a.meter(p.KeyID)
	day, refused := m.admit(p.Limits, time.Now())
	if refused != nil {
		return nil, refused
	}
	return &Run{meter: m, day: day}, nil
}

// Run is what a key was admitted for. A nil one is of nobody who has limits. It is safe for
// concurrent use.
type Run struct {
	meter *meter
	once  sync.Once

	// Under the lock of the meter:
	day int64
	ran bool
}

// Spend charges CPU time that was used; where that is unknown, the wall time.
func (r *Run) Spend(cpuSeconds float64) {
	if r != nil && cpuSeconds > 0 {
		r.meter.spend(r, cpuSeconds)
	}
}

// Continue asks whether a run that has spent something may go on to more. On another day it is
// another run, of that one. The error is a [*LimitError].
func (r *Run) Continue(l store.KeyLimits) error {
	if r == nil {
		return nil
	}
	if refused := r.meter.goOn(r, l, time.Now()); refused != nil {
		return refused
	}
	return nil
}

// Release ends the run; further calls do nothing. One that has spent nothing, because something
// else refused it, is not charged.
func (r *Run) Release() {
	if r != nil {
		r.once.Do(func() { r.meter.release(r) })
	}
}

// meter returns the meter of a key. Meters stay as long as the process, so that
// a key that is taken out of a file and put back has not started anew; there are
// as many as there ever were keys.
func (a *Authenticator) meter(keyID string) *meter {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.meters[keyID]
	if !ok {
		m = &meter{}
		a.meters[keyID] = m
	}
	return m
}
