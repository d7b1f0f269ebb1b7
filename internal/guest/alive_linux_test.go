package guest

import (
	"context"
	"testing"
)

// A container that is made while its runtime closes is removed, and removing it takes
// it off the list that it never came on.
func TestAlive(t *testing.T) {
	var alive Alive
	var c *Container
	removed := 0
	w := start(t, func(o *Options) {
		remove := o.Remove
		o.Remove = func(ctx context.Context) error {
			removed++
			alive.Forget(c)
			return remove(ctx)
		}
	})
	c = w.Container
	must(t, alive.Close(t.Context()))
	if err := alive.Add(t.Context(), c); err == nil || err.Error() != "the runtime is closed" {
		t.Errorf("error %v", err)
	}
	equal(t, "removals", removed, 1)
}
