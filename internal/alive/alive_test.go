package alive

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// fake is a container that takes itself off its list, as all do.
type fake struct {
	list    *List[*fake]
	err     error
	deleted int
	both    *sync.WaitGroup // waits for as many deletions as there are containers
}

func (f *fake) Delete(ctx context.Context) error {
	if f.both != nil {
		f.both.Done()
		f.both.Wait()
	}
	f.deleted++
	f.list.Forget(f)
	return errors.Join(f.err, ctx.Err())
}

// Closing deletes all of them at once, and says what could not be deleted.
func TestClose(t *testing.T) {
	var list List[*fake]
	var both sync.WaitGroup
	both.Add(2)
	broken := errors.New("it stays")
	a, b, gone := &fake{list: &list, both: &both}, &fake{list: &list, both: &both, err: broken}, &fake{list: &list}
	for _, c := range []*fake{a, b, gone} {
		if err := list.Add(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	list.Forget(gone)
	if err := list.Close(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got := []int{a.deleted, b.deleted, gone.deleted}; !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("deleted %v times", got)
	}
	if err := list.Close(t.Context()); err != nil || a.deleted != 1 {
		t.Errorf("again: %v, deleted %d times", err, a.deleted)
	}
}

// What is made while the runtime closes is deleted, whatever becomes of the request.
func TestAddAfterClose(t *testing.T) {
	var list List[*fake]
	if err := list.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := &fake{list: &list}
	if err := list.Add(ctx, late); !errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) || late.deleted != 1 {
		t.Errorf("error %v, deleted %d times", err, late.deleted)
	}
}
