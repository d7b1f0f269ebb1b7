package auth

import (
	"sync"
	"time"
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

// Admit asks whether a key may start a run now. When it may, the caller must
// call release at the end, with the CPU time that was used; calling it again
// does nothing. Zero means that nothing ran, because something else refused it:
// then no run is charged. A run whose CPU time is unknown is released with its
// wall time.
//
// Every call counts for the rate. The quota of CPU time is checked before a run
// and charged after it, so that runs side by side may end above it; runs under
// way count for the quota of runs. A run belongs to the UTC day of its start.
//
// A principal without limits, as the zero value is, is always admitted. The error
// is a [*LimitError].
func (a *Authenticator) Admit(p Principal) (release func(cpuSeconds float64), err error) {
	m := a.meter(p.KeyID)
	day, refused := m.admit(p.Limits, time.Now())
	if refused != nil {
		return nil, refused
	}
	var once sync.Once
	return func(cpuSeconds float64) {
		once.Do(func() { m.release(day, cpuSeconds) })
	}, nil
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
