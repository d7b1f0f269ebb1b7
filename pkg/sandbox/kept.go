package sandbox

import (
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// How long something is kept that waits again.
const (
	// maxTurns is how often it works: javac has 193 MB after 250 and 209 after some 3,000. So often before its end,
	// or so long before it is too old, one that is new works in its place once, and is quick when it has to
	// be: a compiler is after some turns.
	maxTurns  = 10_000
	heirTurns = 100
	heirAfter = oldest - time.Minute
	// keptAfter is how long containers may have been left over before half of them go: a
	// tenant who comes back within a minute finds one.
	keptAfter = time.Minute
	// maxKept is how many of a kind are kept for a tenant.
	maxKept = 8
	// tidyTimeout is how long it may take to clean up.
	tidyTimeout = 5 * time.Second
)

// keptFor takes what has worked for the tenant before, and waits again; once, when that has not long
// to go, it leaves the turn to what is new, which is made for that where none is ready. The caller holds mu.
func (p *pool) keptFor(w Want) *prepared {
	if w.Ahead == nil || !w.Ahead.Again {
		return nil
	}
	of := w
	of.kept = true
	key, ok := of.key()
	c := p.classes[key]
	if !ok || c == nil {
		return nil
	}
	kept := p.pop(c)
	if kept == nil || !kept.leaves() {
		return kept
	}
	fresh := p.classFor(w)
	if fresh == nil {
		return kept
	}
	if len(fresh.ready) == 0 { // who is served by what is kept has not asked for it for long
		if fresh.target <= fresh.owed && fresh.owed < p.opts.Containers {
			fresh.target = fresh.owed + 1
			p.nudge()
		}
		return kept
	}
	kept.followed = true
	c.ready = slices.Insert(c.ready, 0, kept)
	return nil
}

// leaves tells whether something kept has not long to go, and nothing new has followed it.
func (p *prepared) leaves() bool {
	return !p.followed && (p.turns >= maxTurns-heirTurns || time.Since(p.made) > heirAfter)
}

// gives tells whether a tenant's container may be given back.
func (p *pool) gives(r *prepared, tenant string) bool {
	return p != nil && !p.opts.SingleUse && p.isTenant(tenant) && r.turns < maxTurns && time.Since(r.made) < oldest
}

// giveBack has what has worked in a container clean up, and keeps it for the tenant once it
// waits. It tells whether the container is the pool's again.
func (p *pool) giveBack(r *prepared, w *waiting, tenant string) bool {
	if !p.gives(r, tenant) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	ready := w.again.tidy()
	if ready == nil {
		return false
	}
	p.work.Go(func() {
		timer := time.NewTimer(tidyTimeout)
		defer timer.Stop()
		select {
		case <-ready:
		case <-w.ended:
		case <-timer.C:
		case <-p.ctx.Done():
		}
		used, err := w.running.Metrics() // which is more than when it had done nothing
		p.mu.Lock()
		defer p.mu.Unlock()
		again := &prepared{Container: r.Container, class: r.class, waiting: w, made: r.made, turns: r.turns + 1, followed: r.followed}
		select {
		case <-ready:
			if err == nil && !p.closed && again.waits() && p.keepFor(again, tenant, used) {
				return
			}
		default:
		}
		p.discard(again)
	})
	return true
}

// keepFor keeps what waits again, if there is room for what it has grown to. The caller
// holds mu.
func (p *pool) keepFor(r *prepared, tenant string, used Metrics) bool {
	if used.MemoryBytes != nil {
		r.waiting.memory = *used.MemoryBytes
	}
	want := r.class.want
	want.Spec.Tenant, want.kept, want.beside = tenant, true, false
	c := p.class(want)
	if c == nil || len(c.ready) >= maxKept || r.bytes() > p.opts.MemoryBytes/4 || !p.room(c, r.bytes()) {
		return false
	}
	r.class = c
	c.ready = append(c.ready, r)
	fault.Point("container given back")
	return true
}
