package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// PoolOptions bound a pool. The zero value keeps nothing.
type PoolOptions struct {
	// Containers is the most that wait at a time, and MemoryBytes what they may take
	// together.
	Containers  int
	MemoryBytes int64
	// SingleUse keeps nothing that has worked, for whomever.
	SingleUse bool
	// OneTenant says that whoever asks without a tenant is one. Where they are not, nothing of one's is
	// used for the next.
	OneTenant bool
	// Makers is how many are made at a time.
	Makers int
	// Failed is told why a container could not be made ahead, or removed, by several at once; it may be nil.
	Failed func(error)
}

// How a pool follows the demand.
const (
	// shrinkAfter is how long containers of a class may have been left over before it has
	// half of those less.
	shrinkAfter = 15 * time.Second
	// oldest is how long a container waits before it is given up when it is looked at next: what is
	// installed on the host may have changed.
	oldest = 10 * time.Minute
	// refillAfter is how long a run may go on before another container is made in the
	// place of the one that it has taken; before that it is made when the run has ended,
	// so that it takes no time from a short one.
	refillAfter = 20 * time.Millisecond
	// makeTimeout is for a program that never waits.
	makeTimeout = time.Minute
	// patience is how long one that is made keeps a maker from others: what a tenant has given a hundredth
	// of a core is ready in a minute.
	patience = time.Second
	// closeTimeout is how long a pool that closes waits for what is being made.
	closeTimeout = 10 * time.Second
	// pauseFirst and pauseMost are how long nothing is made of a class of which one could
	// not be made.
	pauseFirst, pauseMost = time.Second, time.Minute
	// maxRemoving is how many are removed at a time. Where a thousand ended at once, what was in the
	// last of them had not got a core for long enough to be gone, and its control groups stayed.
	maxRemoving = 16
	// maxLooks is how many of a class are looked at in a second. Of a thousand that nobody wants nothing
	// is in the processor's caches, and each look takes 10 microseconds.
	maxLooks = 64
	// maxBehind is how many of a class may be missing before its demand grows no more.
	maxBehind = 4
	// maxClasses is how many kinds are told apart, of a few KiB each: who asks for
	// something else each time is not to fill the memory.
	maxClasses = 1000
	// baseBytes is what a container takes in the kernel, without what waits in it.
	baseBytes = 512 << 10
)

// pool makes containers before they are wanted. Each is for one run, and none was used
// before.
type pool struct {
	runtime Runtime
	opts    PoolOptions

	ctx    context.Context // of what is made; done when the pool closes
	cancel context.CancelFunc
	work   sync.WaitGroup
	wake   chan struct{}

	removing chan struct{} // holds one for each that is being removed

	mu      sync.Mutex // guards what follows; nothing slow is done under it
	classes map[string]*class
	tenants map[string]int // how many containers each has
	asks    int            // how often something was asked for
	making  int
	slow    int // of making, those that have outlasted patience
	closed  bool

	founding int // ancestors that are being made
}

// prepared is a container that waits.
type prepared struct {
	Container
	class    *class
	waiting  *waiting // nil where nothing was started
	made     time.Time
	parent   *progenitor // of what was forked in it, until it is gone; else nil
	turns    int         // how often it was given back
	followed bool        // it has not long to go, and another has worked in its place
	refill   *time.Timer // of one that is taken
}

// waits tells whether it is there still, and what was started in it waits.
func (p *prepared) waits() bool {
	if p.waiting != nil {
		return p.waiting.alive()
	}
	living, ok := p.Container.(Living)
	return !ok || living.Alive()
}

// errEnded is a container that was made ahead and that nobody will have.
var errEnded = errors.New("a container that was made ahead has ended")

func (p *prepared) bytes() int64 {
	if p.waiting == nil {
		return baseBytes
	}
	return baseBytes + p.waiting.memory
}

func newPool(rt Runtime, opts PoolOptions) *pool {
	if opts.Containers <= 0 {
		return nil
	}
	opts.Makers = max(opts.Makers, 1)
	p := &pool{runtime: rt, opts: opts, wake: make(chan struct{}, 1), removing: make(chan struct{}, maxRemoving), classes: map[string]*class{}, tenants: map[string]int{}}
	p.ctx, p.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // it ends with close
	p.work.Go(p.tend)
	return p
}

// take takes a container that is ready, of the first kind that has one, and notes that the
// first was wanted, unless it begins with another. A kind that nobody has asked for before may not
// come again: then the last is noted as well, which is more people's.
func (p *pool) take(wants []Want, begin int) *prepared {
	if p == nil {
		return nil
	}
	wants = described(wants)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	isNew := false // the first kind
	for i, w := range wants {
		if i < begin {
			continue
		}
		if kept := p.keptFor(w); kept != nil {
			return kept
		}
		c := p.classFor(w)
		if c == nil {
			continue
		}
		c.first = w.First
		ready := p.pop(c)
		if i == 0 || begin == 0 && isNew && i == len(wants)-1 {
			isNew = p.note(c, ready != nil) && i == 0
		}
		if ready != nil {
			fault.Point("ready container taken")
			p.taken(c, ready)
			return ready
		}
		if c.lineage.current != nil {
			return nil // to fork what was wanted is quicker than what the next kind has not done yet
		}
	}
	return nil
}

// note notes that a container of a class was wanted, and tells whether it was for the first time. The
// caller holds mu.
func (p *pool) note(c *class, found bool) (isNew bool) {
	c.lineage.ask(time.Now())
	p.asks++
	if !found {
		c.missed = [2]int{c.missed[1], p.asks}
		p.missed(c)
	}
	isNew = !c.wanted
	c.wanted, c.asked, c.last = true, true, p.asks
	return isNew
}

// missed notes that a class had nothing ready. Once is no demand; and where the makers are behind,
// more is not sooner. The caller holds mu.
func (p *pool) missed(c *class) {
	if c.wanted && !c.counted && c.missing() < maxBehind {
		c.target = min(c.target+1, p.opts.Containers)
		p.nudge()
	}
	c.spare = 0
}

// classFor is the class that has a container for w, or nil where there is none. Busy cores are
// divided between tenants, and a container that was made for nobody counts as a tenant. So it
// may be that of a tenant which has no other. Where who asks without a tenant is one, what was
// made for nobody is his: the others have as many beside it. The caller holds mu.
func (p *pool) classFor(w Want) *class {
	if w.Spec.Tenant == "" || p.tenants[w.Spec.Tenant] > 0 {
		return p.class(w)
	}
	w.Spec.Tenant = ""
	least := 0
	if p.opts.OneTenant {
		if key, ok := w.key(); ok && p.classes[key] != nil {
			least = p.classes[key].least
		}
		w.beside = true
	}
	c := p.class(w)
	if c == nil {
		return nil
	}
	if c.least < least && !c.counted {
		c.least, c.target = least, max(c.target, least)
		p.nudge()
	}
	return c
}

// pop takes the container of a class that was made last, which is in the caches of the
// processor, or nil. The caller holds mu.
func (p *pool) pop(c *class) *prepared {
	for len(c.ready) > 0 {
		last := len(c.ready) - 1
		ready := c.ready[last]
		c.ready = slices.Delete(c.ready, last, last+1)
		c.spare = min(c.spare, len(c.ready))
		if ready.waits() {
			c.last = p.asks
			return ready
		}
		c.failed(time.Now())
		p.discard(ready)
	}
	return nil
}

// class is that of w, or nil where there is none. The caller holds mu.
func (p *pool) class(w Want) *class {
	key, ok := w.key()
	if !ok {
		return nil
	}
	c := p.classes[key]
	if c == nil && len(p.classes) >= maxClasses {
		return nil // so much of so many kinds is not wanted again
	}
	if c == nil {
		c = &class{want: w, first: w.First, shrunk: time.Now()}
		p.classes[key] = c
	}
	return c
}

// isTenant tells whether all who ask as that tenant are one.
func (p *pool) isTenant(name string) bool { return name != "" || p.opts.OneTenant }

// isAnybodys tells whether what is wanted is for tenants as they come: nothing is forked for it, nor used again.
func (p *pool) isAnybodys(w Want) bool { return w.beside || !p.isTenant(w.Spec.Tenant) }

// count notes that a tenant has one container more, or less.
func (p *pool) count(tenant string, more int) {
	if p == nil || tenant == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tenants[tenant] += more; p.tenants[tenant] == 0 {
		delete(p.tenants, tenant)
	}
}

// settle has another container made in the place of one that was taken.
func (p *pool) settle(taken *prepared) {
	if taken == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if taken.refill == nil {
		return
	}
	taken.refill.Stop()
	taken.refill = nil
	taken.class.owed--
	p.nudge()
}

// keep has so many of a kind ready, whatever the demand.
func (p *pool) keep(w Want, least int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.class(w); c != nil {
		c.least = least
		c.target = max(c.target, least)
		p.nudge()
	}
}

// ready counts what waits, by language.
func (p *pool) ready() map[string]int {
	count := map[string]int{}
	if p == nil {
		return count
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.classes {
		if len(c.ready) > 0 || c.target > 0 {
			count[c.want.Spec.Language] += len(c.ready)
		}
	}
	return count
}

func (p *pool) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// tend makes what is missing and removes what is left over, until the pool closes.
func (p *pool) tend() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case now := <-tick.C:
			p.shrink(now)
			p.mu.Lock()
			p.follow(now)
			p.mu.Unlock()
		}
		for p.begin(time.Now()) {
		}
	}
}

// shrink gives up what nobody has wanted for some time.
func (p *pool) shrink(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.classes {
		p.look(c, now)
		if now.Sub(c.shrunk) < shrinkAfter || c.want.kept && now.Sub(c.shrunk) < keptAfter {
			continue
		}
		p.halve(c)
		c.spare, c.shrunk, c.asked = len(c.ready), now, false
		if c.target == 0 && c.owed == 0 && len(c.making) == 0 && len(c.ready) == 0 && c.lineage.extinct() {
			delete(p.classes, key)
		}
	}
}

// look gives up what has ended, or is too old, of those of a class that were not looked at for longest.
// Whatever is taken is looked at, too. The caller holds mu.
func (p *pool) look(c *class, now time.Time) {
	from := c.looked
	if from >= len(c.ready) {
		from = 0
	}
	to := min(from+maxLooks, len(c.ready))
	left := slices.DeleteFunc(c.ready[from:to], func(r *prepared) bool {
		if r.waits() && now.Sub(r.made) < oldest {
			return false
		}
		if !r.waits() {
			c.failed(now)
		}
		p.discard(r)
		return true
	})
	c.looked = from + len(left)
	c.ready = slices.Delete(c.ready, c.looked, to)
}

// halve gives up half of what was left over of a class, and has half as many made of those that it
// misses where nobody has asked: for them there was no room, it may be. The caller holds mu.
func (p *pool) halve(c *class) {
	less := (c.spare + 1) / 2
	if !c.want.kept {
		less = max(0, min(less, c.target-c.least))
		c.target -= less
	}
	less = min(less, len(c.ready))
	for _, r := range c.ready[:less] {
		p.discard(r)
	}
	c.ready = slices.Delete(c.ready, 0, less)
	if missing := c.missing(); missing > 0 && !c.asked {
		c.target = max(c.least, c.target-(missing+1)/2)
	}
}

// discard removes a container that nobody will have. The caller holds mu.
func (p *pool) discard(r *prepared) {
	p.work.Go(func() {
		p.removing <- struct{}{}
		p.remove(r)
		<-p.removing
	})
}

func (p *pool) remove(r *prepared) {
	fault.Point("ready container given up")
	if !r.waits() {
		why := errEnded
		if r.waiting != nil {
			why = errNotWaiting
		}
		p.report(fmt.Errorf("%s: %w", r.class.want.Spec.Language, why))
	}
	if r.waiting != nil {
		r.waiting.leave()
	}
	p.report(r.Delete(context.WithoutCancel(p.ctx)))
	r.bury()
}

// close removes what waits, and returns when it is gone.
func (p *pool) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	for _, c := range p.classes {
		for _, r := range c.ready {
			p.discard(r)
		}
		c.ready = nil
		p.retire(&c.lineage)
	}
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
}
