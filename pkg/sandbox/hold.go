package sandbox

import (
	"context"
	"errors"
)

// Holding is a [Running] whose end can be known before the kernel has taken its memory down.
type Holding interface {
	// HoldMemory has it so for a process that waits for its work, where that can be. After an error its
	// container is good for Delete alone.
	HoldMemory() error
}

// hold has the memory held of what waits in a container, if it is an interpreter that can have it so,
// and measures it. Holding costs time behind its end and spares some in front: where more are missing than
// are being made nothing is held.
func (p *pool) hold(c *class, r *prepared) error {
	w := r.waiting
	if w == nil {
		return nil
	}
	if h, can := w.running.(Holding); can && !w.quiet && w.again == nil && !p.short(c) {
		if err := h.HoldMemory(); err != nil {
			w.discard()
			err = errors.Join(err, r.Delete(context.WithoutCancel(p.ctx)))
			r.bury()
			return err
		}
	}
	w.measure()
	return nil
}

// short tells whether more containers of a class are missing than are being made.
func (p *pool) short(c *class) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.missing() > 0
}
