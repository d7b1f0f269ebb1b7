package sandbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Who finds nothing ready waits for what is being made, if nobody else does, and it does not take longer than
// the last one did.
func TestTakeWhatIsMadeSoon(t *testing.T) {
	type taken struct {
		id    string // empty where there was none
		after time.Duration
	}
	for name, test := range map[string]struct {
		takers int
		waits  time.Duration                     // they do not wait for longer
		then   func(rt *warmRuntime, m *Manager) // while they wait
		slower bool                              // it takes a minute, and whatever is made after it nothing
		want   []taken
		ready  int // at the end
	}{
		"in time":       {takers: 1, want: []taken{{"2", 300 * time.Millisecond}}, ready: 1},
		"for the first": {takers: 2, want: []taken{{"2", 300 * time.Millisecond}, {"3", 500 * time.Millisecond}}, ready: 1},
		"not in time":   {takers: 1, slower: true, want: []taken{{"2", 500 * time.Millisecond}}, ready: 1},
		"never": {takers: 1, then: func(rt *warmRuntime, _ *Manager) {
			rt.change(500*time.Millisecond, errors.New("broken"))
			time.AfterFunc(500*time.Millisecond, func() { rt.change(500*time.Millisecond, nil) })
		}, want: []taken{{"2", 800 * time.Millisecond}}, ready: 1},
		"for nobody": {takers: 1, waits: 100 * time.Millisecond, want: []taken{{"", 100 * time.Millisecond}}, ready: 1},
		"too late":   {takers: 1, then: func(_ *warmRuntime, m *Manager) { go m.Close() }, want: []taken{{"2", 300 * time.Millisecond}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{slow: 500 * time.Millisecond}
				m := keeps(t, rt, PoolOptions{Makers: 1})
				w := Want{Spec: Spec{Language: "go"}}
				m.Prepare(w, 1)
				settle(2 * time.Second)
				if test.slower {
					rt.change(time.Minute, nil)
				}
				first, warm, err := m.Take(t.Context(), w)
				if err != nil || !warm {
					t.Fatalf("warm %v, %v", warm, err)
				}
				if err := m.Delete(t.Context(), first.ID()); err != nil { // and another is made in its place
					t.Fatal(err)
				}
				settle(200 * time.Millisecond)
				if test.slower {
					rt.change(0, nil)
				}
				ctx := t.Context()
				if test.waits > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, test.waits)
					defer cancel()
				}
				var all sync.WaitGroup
				got := make([]taken, test.takers)
				for i := range got {
					began := time.Now()
					all.Go(func() {
						c, warm, err := m.Take(ctx, w)
						got[i].after = time.Since(began)
						if err != nil {
							return
						}
						got[i].id = c.ID()
						if warm {
							t.Errorf("%s was ready", c.ID())
						}
						if err := m.Delete(context.WithoutCancel(ctx), c.ID()); err != nil {
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				if test.then != nil {
					test.then(rt, m)
				}
				all.Wait()
				for i, want := range test.want {
					if got[i] != want {
						t.Errorf("taker %d has %+v, want %+v", i, got[i], want)
					}
				}
				rt.change(0, nil)
				settle(time.Minute)
				if ready := m.Ready()["go"]; ready != test.ready {
					t.Errorf("%d are ready, want %d", ready, test.ready)
				}
			})
		})
	}
}
