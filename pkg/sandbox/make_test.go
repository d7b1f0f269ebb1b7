package sandbox

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A container in which nothing waits may end while it does, with its spawner or for want of memory.
func TestPoolHasNoneThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{}
		var mu sync.Mutex
		var failed []error
		m := keeps(t, rt, PoolOptions{Failed: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, err)
		}})
		w := Want{Spec: Spec{Language: "go"}}
		m.Prepare(w, 2)
		settle(time.Second)
		for _, c := range rt.alive {
			c.dead.Store(true)
		}
		c, warm, err := m.Take(t.Context(), w)
		if err != nil || warm || c.(*warmContainer).dead.Load() {
			t.Errorf("warm %t, %v", warm, err)
		}
		if err := m.Delete(t.Context(), c.ID()); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		if !slices.ContainsFunc(failed, func(err error) bool { return errors.Is(err, errEnded) }) {
			t.Errorf("nobody was told: %v", failed)
		}
		settle(time.Minute)
		if c, warm, err = m.Take(t.Context(), w); err != nil || !warm {
			t.Errorf("none is ready again: %v", err)
		}
		if err := m.Delete(t.Context(), c.ID()); err != nil {
			t.Fatal(err)
		}
	})
}

// One that ends while it hears what it is for is not kept.
func TestPoolKeepsNoneThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{}
		rt.expectKills.Store(true)
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(Want{Spec: Spec{Language: "go"}, First: &Process{}}, 1)
		settle(pauseFirst / 2) // before it is tried again
		if n := m.Ready()["go"]; n != 0 || rt.count() != 0 {
			t.Errorf("%d are ready, of %d", n, rt.count())
		}
	})
}

// An engine that does not answer holds up neither the pool's end nor, for ever, what is made.
func TestPoolOfAnEngineThatHangs(t *testing.T) {
	for wait, given := range map[time.Duration]int{time.Second: 0, 2*makeTimeout + time.Second: 1} {
		synctest.Test(t, func(t *testing.T) {
			var failed int
			m := NewManager(&warmRuntime{slow: 24 * time.Hour}, 0)
			m.KeepReady(PoolOptions{Containers: 1, MemoryBytes: 1 << 40, Failed: func(error) { failed++ }})
			m.Prepare(Want{Spec: Spec{Language: "go"}}, 1)
			settle(wait)
			if failed != given {
				t.Errorf("%d were given up after %v, want %d", failed, wait, given)
			}
			began := time.Now()
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > closeTimeout {
				t.Errorf("the pool has closed after %v", took)
			}
		})
	}
}

// The ends of interpreters that wait for their work are made to be known soon, but not of one that is
// started because none was ready.
func TestPoolAttends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(python(), 2)
		settle(10 * time.Second)
		attended := func() int {
			rt.mu.Lock()
			defer rt.mu.Unlock()
			return rt.attended
		}
		if n := attended(); n != 2 || rt.made != 2 {
			t.Errorf("%d of %d are attended", n, rt.made)
		}
		sooner := python()
		sooner.Ahead.Sooner = true
		sooner.Spec.Language = "other"
		c, _, err := m.Take(t.Context(), sooner)
		if err == nil {
			err = m.Delete(t.Context(), c.ID())
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := attended(); n != 2 {
			t.Errorf("%d are attended when one was started for a run", n)
		}
	})
}

// However many wait, each is looked at in its turn.
func TestPoolLooksAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const turns = 3
		rt := &warmRuntime{}
		m := keeps(t, rt, PoolOptions{Containers: turns * maxLooks, MemoryBytes: 1 << 40})
		m.Prepare(Want{Spec: Spec{Language: "go"}}, turns*maxLooks)
		settle(time.Second)
		if n := m.Ready()["go"]; n != turns*maxLooks {
			t.Fatalf("%d are ready", n)
		}
		ended := 0
		rt.mu.Lock()
		for _, c := range rt.alive {
			if n, _ := strconv.Atoi(c.id); n%7 == 0 {
				c.dead.Store(true)
				ended++
			}
		}
		rt.mu.Unlock()
		settle((turns + 1) * time.Second)
		rt.mu.Lock()
		for _, c := range rt.alive {
			if c.dead.Load() {
				t.Errorf("%s is kept", c.id)
			}
		}
		rt.mu.Unlock()
		settle(pauseMost)
		if n := m.Ready()["go"]; n != turns*maxLooks || rt.made != n+ended {
			t.Errorf("%d are ready, and %d were made, where %d had ended", n, rt.made, ended)
		}
	})
}
