package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
)

const (
	// pollEvery is how old a look at a server may be before it is looked at again,
	// beside what goes on.
	pollEvery = 30 * time.Second
	// firstRest is how long a server that failed is left alone, doubled each time.
	firstRest, longestRest = time.Second, time.Minute
	// others is how long the first looks wait for slower servers when one has
	// answered.
	others = 250 * time.Millisecond
)

// poll looks at a server: does it accept runs, and how far is it?
func (e *endpoint) poll(ctx context.Context) {
	begin := time.Now()
	err := e.get(ctx, e.dial, "readyz", nil, &struct{}{})
	took := time.Since(begin)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.polling, e.polled = false, time.Now()
	if err != nil {
		e.resting(err)
		return
	}
	e.failure, e.rest = nil, 0
	if e.way == 0 || took < e.way {
		e.way = took
	} else {
		e.way += (took - e.way) / 4 // one slow answer does not make it far
	}
}

// resting leaves the server alone for a while. The caller holds the lock.
func (e *endpoint) resting(err error) {
	e.failure = err
	e.rest = min(max(firstRest, 2*e.rest), longestRest)
}

// failed notes that the server has failed.
func (e *endpoint) failed(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.resting(err)
	e.polled = time.Now()
}

// stale tells whether it is time to look again, and that nobody does.
func (e *endpoint) stale() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	age := cmp.Or(e.rest, pollEvery)
	if e.polling || time.Since(e.polled) < age {
		return false
	}
	e.polling = true
	return true
}

func (e *endpoint) state() (healthy bool, way time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failure == nil, e.way
}

// look looks at the servers that were not looked at lately. The first time it
// waits, for the nearest at least; later ones go on beside. One server needs no choice.
func (r *Runtime) look(ctx context.Context) {
	if len(r.endpoints) < 2 {
		return
	}
	answered := make(chan *endpoint, len(r.endpoints))
	begun := 0
	for _, e := range r.endpoints {
		if e.stale() && r.beside(func(ctx context.Context) { e.poll(ctx); answered <- e }) {
			begun++
		}
	}
	r.mu.Lock()
	first := !r.looked
	r.mu.Unlock()
	if !first {
		return
	}
	var enough <-chan time.Time
	for range begun {
		select {
		case e := <-answered:
			if healthy, _ := e.state(); healthy && enough == nil {
				enough = time.After(others)
			}
			continue
		case <-enough:
		case <-ctx.Done():
		}
		break
	}
	r.mu.Lock()
	r.looked = true
	r.mu.Unlock()
}

// order is the order in which servers are tried: the healthy ones before the others,
// the near ones before the far. The one that was planned with last stays in front of
// those that are no less than half as far: its toolchains should be there when the
// run begins.
func (r *Runtime) order(ctx context.Context) []*endpoint {
	r.look(ctx)
	r.mu.Lock()
	current := r.current
	r.mu.Unlock()
	type candidate struct {
		*endpoint
		sick int
		way  time.Duration
	}
	var all []candidate
	for _, e := range r.endpoints {
		healthy, way := e.state()
		c := candidate{endpoint: e, way: way}
		if !healthy {
			c.sick = 1
		}
		if e == current {
			c.way /= 2
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.sick, b.sick), cmp.Compare(a.way, b.way))
	})
	out := make([]*endpoint, len(all))
	for i, c := range all {
		out[i] = c.endpoint
	}
	return out
}

// try does something with the first server that will. Only what says that a server
// would not do goes on to the next; every other error is the caller's.
func (r *Runtime) try(ctx context.Context, do func(*endpoint) error) error {
	all := &Error{}
	if len(r.endpoints) == 0 {
		all.Mend = fmt.Sprintf("None of the servers is in the region %s, and others are not used: name one that is in SANDBOX_REMOTE", r.options.Region)
		return all
	}
	for _, e := range r.order(ctx) {
		err := do(e)
		var refused *refusal
		var elsewhere *tunnel.Elsewhere
		switch {
		case err == nil:
			e.recovered()
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refused):
			if refused.sick {
				e.failed(err)
			}
			all.Again = all.Again || refused.again
		case errors.As(err, &elsewhere):
			all.Again = true
		default:
			return err
		}
		all.Failures = append(all.Failures, Failure{Server: e.URL, Reason: err.Error()})
	}
	return all
}

// recovered notes that the server has done what it was asked for.
func (e *endpoint) recovered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure, e.rest = nil, 0
}
