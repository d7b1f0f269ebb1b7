package sandbox

import (
	"context"
	"slices"
	"time"
)

// soon waits for a container of w's class that was being made when that was asked for, and that nobody else
// waits for: that takes less than to make another from its begin, beside it. It gives nil where there is none,
// and where it takes longer than the last one did, or than [hurryTimeout].
func (p *pool) soon(ctx context.Context, w Want) *prepared {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	c := p.classFor(w)
	if c == nil || c.underway() <= len(c.awaited) {
		p.mu.Unlock()
		return nil
	}
	made := make(chan *prepared, 1)
	c.awaited = append(c.awaited, made)
	late := time.NewTimer(min(c.took, hurryTimeout))
	p.mu.Unlock()
	defer late.Stop()
	select {
	case r := <-made:
		return r
	case <-late.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.awaited = slices.DeleteFunc(c.awaited, func(other chan *prepared) bool { return other == made })
	select {
	case r := <-made: // meanwhile
		return r
	default:
		return nil
	}
}

// underway counts those that were being made when the class was asked for last.
func (c *class) underway() (n int) {
	for _, asks := range c.making {
		if asks < c.last {
			n++
		}
	}
	return n
}

// hand gives what was made, or nil where nothing was, to who has waited for it the longest, and tells whether
// there was somebody. The caller holds mu.
func (p *pool) hand(c *class, r *prepared) bool {
	if len(c.awaited) == 0 {
		return false
	}
	first := c.awaited[0]
	c.awaited = slices.Delete(c.awaited, 0, 1)
	if r != nil {
		p.taken(c, r)
	}
	first <- r
	return true
}

// taken notes that a run has a container of a class. The caller holds mu.
func (p *pool) taken(c *class, r *prepared) {
	c.owed++
	r.refill = time.AfterFunc(refillAfter, func() { p.settle(r) })
}
