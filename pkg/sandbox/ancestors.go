package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrNoAncestor says that here there can be no ancestor ([Ancestral]), and why.
var ErrNoAncestor = errors.New("no ancestor")

// When a class has an ancestor: a start costs an interpreter several times what a fork does,
// but what is forked has its layout in memory, and the seed of its hashes, in common.
const (
	// busyTakes is how many containers of a class a tenant takes in a second who is to have
	// an ancestor.
	busyTakes = 3
	// ancestorOldest is after what time another one follows it.
	ancestorOldest = time.Minute
	// ancestorPause is how long there is none after one has failed.
	ancestorPause = time.Minute
	// ancestorBytes is what one is taken to need.
	ancestorBytes = 16 << 20
)

// lineage is the ancestor of a class, and when there is to be one.
type lineage struct {
	asked    int // containers that were taken since the last look
	busy     time.Time
	expected bool // one is being made
	not      time.Time
	never    bool
	current  *progenitor
}

// progenitor is an ancestor and the container that it is in.
type progenitor struct {
	Ancestor
	container Container
	made      time.Time
	forking   sync.WaitGroup
}

// extinct tells whether there is no ancestor, nor will be soon.
func (l *lineage) extinct() bool { return l.current == nil && !l.expected }

// follow has the classes have ancestors whose tenants ask for much, and ends those of others.
// The caller holds mu.
func (p *pool) follow(now time.Time) {
	for _, c := range p.classes {
		l := &c.lineage
		if l.asked >= busyTakes {
			l.busy = now
		}
		l.asked = 0
		busy := now.Sub(l.busy) < shrinkAfter
		switch {
		case l.current != nil && (!busy || now.Sub(l.current.made) > ancestorOldest):
			p.retire(l)
		case l.current == nil && busy && p.mayDescend(c) && !l.expected && now.After(l.not) && !p.closed && p.room(c, ancestorBytes):
			l.expected = true
			p.work.Go(func() { p.found(c) })
		}
	}
}

// ancestors counts them.
func (p *pool) ancestors() (n int) {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.classes {
		if c.lineage.current != nil {
			n++
		}
	}
	return n
}

// mayDescend tells whether an ancestor could be any run's of the class.
func (p *pool) mayDescend(c *class) bool {
	return !p.opts.SingleUse && c.want.Ahead != nil && c.want.Ahead.Ancestor != "" && !c.lineage.never
}

// share has a class be for tenants as they come, and nothing be forked for it any more: an
// ancestor is one tenant's. Where there are no tenants, who asks is one. The caller holds mu.
func (p *pool) share(c *class) {
	if c.lineage.never {
		return
	}
	c.lineage.never = true
	p.retire(&c.lineage)
	c.ready = slices.DeleteFunc(c.ready, func(r *prepared) bool {
		if r.forked {
			p.discard(r)
		}
		return r.forked
	})
}

// retire ends an ancestor when nobody is being forked from it. The caller holds mu.
func (p *pool) retire(l *lineage) {
	a := l.current
	if l.current = nil; a != nil {
		p.work.Go(func() {
			a.forking.Wait()
			p.report(errors.Join(a.Close(), a.container.Delete(context.WithoutCancel(p.ctx))))
		})
	}
}

// found makes the ancestor of a class.
func (p *pool) found(c *class) {
	a, err := p.ancestor(c.want)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &c.lineage
	l.expected, l.current = false, a
	switch {
	case errors.Is(err, ErrNoAncestor):
		l.never = true
	case err != nil:
		l.not = time.Now().Add(ancestorPause)
		p.report(err)
	case p.closed || l.never:
		p.retire(l)
	}
}

func (p *pool) ancestor(w Want) (_ *progenitor, err error) {
	ctx := context.WithoutCancel(p.ctx)
	c, err := p.runtime.Create(ctx, w.Spec)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Delete(ctx))
		}
	}()
	in, can := c.(Ancestral)
	if !can {
		return nil, fmt.Errorf("%w: %T has none", ErrNoAncestor, c)
	}
	if err := lay(c, *w.Ahead); err != nil {
		return nil, err
	}
	process := w.Ahead.Process
	process.Limits = kernelHeld(process.Limits)
	a, err := in.Ancestor(ctx, process, w.Ahead.Ancestor)
	if err != nil {
		return nil, err
	}
	return &progenitor{Ancestor: a, container: c, made: time.Now()}, nil
}

// descend gives how a process is started in a new container of a class, and what is to be called
// with how that went. The caller holds mu.
func (p *pool) descend(c *class) (start startFunc, done func(error)) {
	l := &c.lineage
	a := l.current
	if a == nil {
		return nil, func(error) {}
	}
	a.forking.Add(1)
	return a.Start, func(err error) {
		a.forking.Done()
		if err == nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if l.current == a {
			l.not = time.Now().Add(ancestorPause)
			p.retire(l)
		}
	}
}

// fork makes a container for a run that found none ready, if something can be forked in it.
func (p *pool) fork(w Want) *prepared {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	key, _ := w.key()
	c := p.classes[key]
	can := c != nil && c.lineage.current != nil
	p.mu.Unlock()
	if !can {
		return nil
	}
	made, err := p.prepare(c)
	if err != nil { // the run has a container of its own then
		p.report(err)
		return nil
	}
	return made
}

// report tells whoever wants to know what has failed.
func (p *pool) report(err error) {
	if err != nil && p.opts.Failed != nil {
		p.opts.Failed(err)
	}
}
