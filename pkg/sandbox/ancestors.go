package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNoAncestor says that here there can be no ancestor ([Ancestral]), and why.
var ErrNoAncestor = errors.New("no ancestor")

// ErrAncestorBusy says that an [Ancestor] has too many children to make.
var ErrAncestorBusy = errors.New("too many children of an ancestor are being made")

// When a class has an ancestor: a start costs an interpreter several times what a fork does,
// but what is forked has its layout in memory, and the seed of its hashes, in common.
const (
	// busyTakes is how many containers of a class a tenant takes in a second who is to have
	// an ancestor.
	busyTakes = 3
	// ancestorOldest is the most that one forks, and ancestorHeir how long before that another
	// begins to be made, which follows it: a busy tenant is not to be without.
	ancestorOldest = time.Minute
	ancestorHeir   = 10 * time.Second
	// ancestorPause is how long there is none after one has failed.
	ancestorPause = time.Minute
	// ancestorBytes is what one is taken to need.
	ancestorBytes = 16 << 20
	// ancestorShare is which part of a pool's containers may be ancestors'.
	ancestorShare = 4
	// ancestorFailures is after how many in a row a class has none any more.
	ancestorFailures = 3
)

// lineage is the ancestor of a class, and when there is to be one.
type lineage struct {
	asked    int           // containers that were taken since the last look
	took     time.Time     // when the last one was
	rest     time.Duration // between that and the one before
	busy     time.Time
	expected bool // one is being made
	not      time.Time
	failed   int // in a row
	never    bool
	current  *progenitor
}

// progenitor is an ancestor and the container that it is in.
type progenitor struct {
	Ancestor
	container Container
	made      time.Time
	forking   sync.WaitGroup
	children  sync.WaitGroup // their containers
}

// restsAfter is how long after a container was taken nobody may ask for another one who is in no hurry.
// In less a program finds what it reads of files in its core's caches.
const restsAfter = 20 * time.Millisecond

// ask notes that a container is taken.
func (l *lineage) ask(now time.Time) {
	l.asked++
	l.rest, l.took = now.Sub(l.took), now
}

// bury notes that a container is gone.
func (p *prepared) bury() {
	if p != nil && p.parent != nil {
		p.parent.children.Done()
		p.parent = nil
	}
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
		if l.current != nil && (!busy || now.Sub(l.current.made) > ancestorOldest) {
			p.retire(l)
		}
		old := l.current == nil || now.Sub(l.current.made) > ancestorOldest-ancestorHeir
		if old && busy && p.mayDescend(c) && !l.expected && now.After(l.not) && p.mayFound(l) {
			l.expected = true
			p.founding++
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
	return p.kin() - p.founding
}

// mayDescend tells whether an ancestor could be any run's of the class: it is one tenant's.
func (p *pool) mayDescend(c *class) bool {
	return !p.opts.SingleUse && !p.isAnybodys(c.want) && c.want.Ahead != nil && c.want.Ahead.Ancestor != nil && !c.lineage.never
}

// mayFound tells whether there is room for one ancestor more, or for one in the place of another.
// For them nothing else goes.
func (p *pool) mayFound(l *lineage) bool {
	containers, bytes := p.used()
	kin := p.kin()
	if l.current != nil {
		containers, kin = containers-1, kin-1
	}
	return !p.closed && p.founding < p.opts.Makers && kin < max(1, p.opts.Containers/ancestorShare) &&
		containers < p.opts.Containers && bytes+ancestorBytes <= p.opts.MemoryBytes
}

// kin counts the ancestors that there are or will be. The caller holds mu.
func (p *pool) kin() (n int) {
	n = p.founding
	for _, c := range p.classes {
		if c.lineage.current != nil {
			n++
		}
	}
	return n
}

// retire ends an ancestor when nobody is being forked from it. The caller holds mu.
func (p *pool) retire(l *lineage) {
	a := l.current
	if l.current = nil; a != nil {
		p.work.Go(func() { p.report(p.bury(a)) })
	}
}

// bury ends an ancestor. Its container stays as long as there are children, whose program is a
// file of its.
func (p *pool) bury(a *progenitor) error {
	a.forking.Wait()
	err := a.Close()
	gone := make(chan struct{})
	go func() {
		a.children.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-p.ctx.Done():
	}
	return errors.Join(err, a.container.Delete(context.WithoutCancel(p.ctx)))
}

// found makes the ancestor of a class.
func (p *pool) found(c *class) {
	a, err := p.ancestor(c.want)
	if !errors.Is(err, ErrNoAncestor) {
		p.report(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.founding--
	l := &c.lineage
	l.expected = false
	switch {
	case errors.Is(err, ErrNoAncestor):
		l.never = true
	case err != nil:
		l.fail()
	default:
		p.retire(l) // the one before
		l.current = a
	}
	if p.closed || l.never {
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
	if err := lay(c, w.Ahead.Files); err != nil {
		return nil, err
	}
	process := w.Ahead.Process
	process.Limits = kernelHeld(process.Limits)
	a, err := in.Ancestor(ctx, process, *w.Ahead.Ancestor)
	if err != nil {
		return nil, err
	}
	p.report(p.rehearse(ctx, a, w)) // it is as good without
	return &progenitor{Ancestor: a, container: c, made: time.Now()}, nil
}

// rehearsalTakes is the most that a rehearsal may take.
const rehearsalTakes = 5 * time.Second

// rehearse has an ancestor that can learn from it fork a child into a container of its own, which
// runs the rehearsal, and nothing else.
func (p *pool) rehearse(ctx context.Context, a Ancestor, w Want) (err error) {
	learner, can := a.(Rehearsing)
	if !can || len(w.Ahead.Ancestor.Rehearsal) == 0 {
		return nil
	}
	c, err := p.runtime.Create(ctx, w.Spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Delete(ctx)) }()
	timer := time.NewTimer(rehearsalTakes)
	defer timer.Stop()
	child, err := startAhead(ctx, c, *w.Ahead, a.Start, p.ctx.Done(), timer.C)
	if err != nil {
		return err
	}
	defer child.discard()
	if err := lay(c, w.Ahead.Ancestor.Rehearsal); err != nil {
		return err
	}
	late := time.AfterFunc(rehearsalTakes, func() { _ = child.running.Kill() })
	defer late.Stop()
	process := w.Ahead.Process
	process.Work = &Work{}
	work, can := child.work(process)
	if !can {
		return errNotWaiting
	}
	return learner.Rehearse(child.running, func() { child.resume(process, work) })
}

// fail notes that an ancestor could not be, or could not fork.
func (l *lineage) fail() {
	l.not = time.Now().Add(ancestorPause)
	l.failed++
	l.never = l.never || l.failed >= ancestorFailures
}

// descended makes a container of a class with a child of its ancestor in it, or gives nil where
// there is none, or it fails: then it goes on without. For who waits for it already nothing is done
// that would spare time later.
func (p *pool) descended(c *class, waits bool, closed <-chan struct{}, late <-chan time.Time) *prepared {
	p.mu.Lock()
	l := &c.lineage
	a := l.current
	if a == nil {
		p.mu.Unlock()
		return nil
	}
	a.forking.Add(1)
	calm := !waits && l.rest > restsAfter
	p.mu.Unlock()
	defer a.forking.Done()
	ctx := context.WithoutCancel(p.ctx)
	made, err := p.runtime.Create(ctx, p.spec(c))
	if err != nil {
		p.report(err)
		return nil
	}
	r := &prepared{Container: made, class: c, made: time.Now(), parent: a}
	start := func(ctx context.Context, c Container, p Process) (Running, error) {
		p.Calm = calm
		return a.Start(ctx, c, p)
	}
	if r.waiting, err = startAhead(ctx, made, *c.want.Ahead, start, closed, late); err == nil {
		a.children.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		l.failed = 0
		return r
	}
	p.report(made.Delete(ctx))
	if errors.Is(err, ErrAncestorBusy) || errors.Is(err, context.Canceled) {
		return nil
	}
	p.report(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.current == a {
		l.fail()
		p.retire(l)
	}
	return nil
}

// hurryTimeout is how long a run waits that found nothing ready until something is forked or started
// for it.
const hurryTimeout = 3 * time.Second

// fork makes a container for a run that found none ready, if something can be forked in it.
func (p *pool) fork(ctx context.Context, w Want) *prepared {
	if p == nil {
		return nil
	}
	key, _ := w.key()
	p.mu.Lock()
	c := p.classes[key]
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	timer := time.NewTimer(hurryTimeout)
	defer timer.Stop()
	return p.descended(c, true, ctx.Done(), timer.C)
}

// report tells whoever wants to know what has failed.
func (p *pool) report(err error) {
	if err != nil && p.opts.Failed != nil {
		p.opts.Failed(err)
	}
}
