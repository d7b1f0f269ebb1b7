package sandbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// begin begins to make one container, of the class that misses most of those for which there is room.
func (p *pool) begin(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.making-p.slow >= p.opts.Makers {
		return false
	}
	var short []*class
	for _, c := range p.classes {
		if c.missing() > 0 && !now.Before(c.retryAt) {
			short = append(short, c)
		}
	}
	slices.SortFunc(short, func(a, b *class) int { return b.missing() - a.missing() })
	for _, c := range short {
		if p.room(c, max(c.size, baseBytes)) {
			p.making++
			asks := p.asks
			c.making = append(c.making, asks)
			p.work.Go(func() { p.make(c, asks) })
			return true
		}
	}
	return false
}

// make makes one container of a class, and begins after so many asks.
func (p *pool) make(c *class, asks int) {
	began := time.Now()
	outlasted := time.AfterFunc(patience, func() { p.slower(1) })
	ready, err := p.prepare(c)
	ready.attend()
	if !outlasted.Stop() {
		p.slower(-1)
	}
	if p.ctx.Err() == nil && !errors.Is(err, errCounted) {
		p.report(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making--
	at := slices.Index(c.making, asks)
	c.making = slices.Delete(c.making, at, at+1)
	switch {
	case err == nil:
		c.took, c.size = time.Since(began), ready.bytes()
	case len(c.making) < len(c.awaited):
		p.hand(c, nil)
	}
	switch {
	case errors.Is(err, errCounted):
		c.counted, c.target, c.least = true, 0, 0
	case err != nil:
		c.failed(time.Now())
	case p.hand(c, ready):
	case p.closed:
		p.discard(ready)
	default:
		if !p.room(c, c.size) { // it has become more than the last one was, or is the first
			p.discard(ready)
			break
		}
		c.ready = append(c.ready, ready)
		fault.Point("container ready")
	}
	p.nudge()
}

// attend has the end of what waits in a container for one run be known soon, if that can be.
func (p *prepared) attend() {
	if p == nil || p.waiting == nil || p.waiting.again != nil {
		return
	}
	if a, can := p.waiting.running.(Attending); can {
		a.Attend()
	}
}

// slower notes that one more of those that are made is slow, or one less.
func (p *pool) slower(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow += more
	p.nudge()
}

// whileMaking is the context of what is made, until made is called. It outlives that, since what
// is made with it does, and ends neither then nor at once with the pool. But an engine that does
// not answer holds nobody up for ever.
func (p *pool) whileMaking() (ctx context.Context, made func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.ctx))
	late := time.AfterFunc(2*makeTimeout, cancel)
	stop := context.AfterFunc(p.ctx, func() { late.Reset(closeTimeout) })
	return ctx, func() { stop(); late.Stop() }
}

// prepare makes one.
func (p *pool) prepare(c *class) (_ *prepared, err error) {
	ctx, made := p.whileMaking()
	defer made()
	p.mu.Lock()
	first := c.first
	p.mu.Unlock()
	timer := time.NewTimer(makeTimeout)
	defer timer.Stop()
	if r := p.descended(c, false, p.ctx.Done(), timer.C); r != nil {
		return r, nil
	}
	container, err := p.runtime.Create(ctx, p.spec(c))
	if err != nil {
		return nil, err
	}
	if countsAll(container) {
		p.report(container.Delete(context.WithoutCancel(ctx)))
		return nil, errCounted
	}
	ready := &prepared{Container: container, class: c, made: time.Now()}
	switch {
	case c.want.Ahead == nil:
		if err = expect(ctx, container, first); !ready.waits() {
			err = errors.Join(errEnded, err)
			break
		}
		p.report(err)
		return ready, nil
	case container.Isolation().Level != LevelFull: // elsewhere its words would mean other paths
		return ready, nil
	default:
		ready.waiting, err = startAhead(ctx, container, *c.want.Ahead, nil, p.ctx.Done(), timer.C)
	}
	if err != nil {
		return nil, errors.Join(err, container.Delete(context.WithoutCancel(ctx)))
	}
	return ready, nil
}

// spec is what a container of a class is made of. Nothing of it is another tenant's afterwards:
// what was made for nobody may be anybody's.
func (p *pool) spec(c *class) Spec {
	s := c.want.Spec
	if !p.opts.SingleUse && !p.isAnybodys(c.want) {
		s.Recycle = "tenant " + s.Tenant
	}
	return s
}
