package local

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Who deletes what somebody else deletes already waits for that, as long as it cares to,
// and hears the same of it.
func TestDeleteTogether(t *testing.T) {
	rt := opened(t)
	made, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelNone, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*container)
	broken := errors.New("broken")
	c.leftover = []error{broken}
	ended := make(chan error, 2)
	remove := func() { ended <- c.Delete(context.WithoutCancel(t.Context())) }
	c.starting.Lock() // so that the first waits
	go remove()
	begun := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.deleted
	}
	for !begun() {
		time.Sleep(time.Millisecond)
	}
	go remove()
	hasty, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Delete(hasty); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("somebody in a hurry: %v", err)
	}
	c.starting.Unlock()
	for range 2 {
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("error %v, want that of the deletion", err)
		}
	}
}
