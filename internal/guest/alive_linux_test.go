package guest

import (
	"context"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/alive"
)

// A container that is made while its runtime closes is removed, and removing it takes
// it off the list that it never came on.
func TestAlive(t *testing.T) {
	var list alive.List[*Container]
	var c *Container
	removed := 0
	w := start(t, func(o *Options) {
		remove := o.Remove
		o.Remove = func(ctx context.Context) error {
			removed++
			list.Forget(c)
			return remove(ctx)
		}
	})
	c = w.Container
	must(t, list.Close(t.Context()))
	if err := list.Add(t.Context(), c); err == nil || err.Error() != "the runtime is closed" {
		t.Errorf("error %v", err)
	}
	equal(t, "removals", removed, 1)
}
