package sandbox

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// taken has n containers of a kind in use at a time, and some time pass.
func taken(t *testing.T, m *Manager, w Want, n int) {
	t.Helper()
	together(t, m, w, n)
	time.Sleep(10 * time.Second)
}

// together has n containers of a kind in use at a time.
func together(t *testing.T, m *Manager, w Want, n int) {
	t.Helper()
	ids := make([]string, n)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			if c, _, err := m.Take(t.Context(), w); err == nil {
				ids[i] = c.ID()
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		_ = m.Delete(t.Context(), id)
	}
	time.Sleep(10 * time.Millisecond)
}

// What nobody wants makes room for what somebody does.
func TestPoolMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{slow: time.Millisecond}, PoolOptions{Containers: 2})
		old, young := Want{Spec: Spec{Language: "go"}}, Want{Spec: Spec{Language: "rust"}}
		taken(t, m, old, 3)
		time.Sleep(shrinkAfter - 9*time.Second) // spare by now, but not yet given up
		taken(t, m, young, 2)
		taken(t, m, young, 2)
		if ready := m.Ready(); ready["rust"] == 0 {
			t.Errorf("ready: %v", ready)
		}
	})
}

// asked takes a container of the first kind that has one, uses it for no time, and tells whether it was ready.
func asked(t *testing.T, m *Manager, wants ...Want) (id string, warm bool) {
	t.Helper()
	c, warm, err := m.Take(t.Context(), wants...)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Delete(t.Context(), c.ID()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	return c.ID(), warm
}

// What somebody asks for again and again has the room of what others have asked for, as soon as those do
// not, but not of what is kept ready.
func TestPoolMakesRoomAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{slow: time.Millisecond}, PoolOptions{Containers: 4})
		old, young := Want{Spec: Spec{Language: "go"}}, Want{Spec: Spec{Language: "rust"}}
		m.Prepare(old, 1)
		taken(t, m, old, 8)
		if ready := m.Ready(); ready["go"] != 4 {
			t.Fatalf("ready: %v", ready)
		}
		for i := range 20 {
			if _, warm := asked(t, m, young); !warm && i > 1 {
				t.Fatalf("nothing is ready for what was asked for %d times in a row", i)
			}
		}
		taken(t, m, young, 8)
		if ready := m.Ready(); ready["go"] != 1 || ready["rust"] != 3 {
			t.Errorf("ready: %v", ready)
		}
	})
}

// What was asked for the longest ago goes first.
func TestPoolMakesRoomOfTheLongestUnasked(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			m := keeps(t, &warmRuntime{slow: time.Millisecond}, PoolOptions{Containers: 4})
			kinds := map[string]Want{}
			for _, language := range []string{"go", "java", "rust"} {
				kinds[language] = Want{Spec: Spec{Language: language}}
			}
			for _, n := range []int{1, 2} {
				together(t, m, kinds["go"], n)
				together(t, m, kinds["java"], n)
			}
			for _, language := range []string{"go", "rust", "rust"} {
				asked(t, m, kinds[language])
			}
			if ready := m.Ready(); ready["go"] != 2 || ready["java"] != 1 || ready["rust"] != 1 {
				t.Errorf("ready: %v", ready)
			}
		})
	}
}

// What is asked for in turns takes no room from one another: where it does not suffice, most would have none.
func TestPoolMakesNoRoomInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{slow: time.Millisecond}, PoolOptions{Containers: 4})
		found := 0
		for range 20 {
			for _, language := range []string{"go", "rust", "java", "python", "javascript"} {
				if _, warm := asked(t, m, Want{Spec: Spec{Language: language}}); warm {
					found++
				}
			}
		}
		if found < 50 {
			t.Errorf("%d of 100 found one ready", found)
		}
	})
}

// What serves in the place of another is not idle, nor is what has worked for a tenant before its time.
func TestPoolMakesNoRoomOfWhatServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: compiler, slow: time.Millisecond}, PoolOptions{Containers: 4})
		m.Prepare(javac(""), 1)
		time.Sleep(time.Second)
		id, _, _, _ := compiled(t, m, "a", "x")
		serves, other := Want{Spec: Spec{Language: "go"}}, Want{Spec: Spec{Language: "rust"}}
		together(t, m, serves, 1)
		together(t, m, serves, 2)
		if ready := m.Ready(); ready["go"] != 2 || ready["java"] != 2 {
			t.Fatalf("ready: %v", ready)
		}
		asked(t, m, other)
		served := m.pool.take([]Want{{Spec: Spec{Language: "bash"}}, serves}, 1)
		if served == nil {
			t.Fatal("the second kind did not serve")
		}
		if err := m.Delete(t.Context(), m.taken(serves, served).ID()); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
		asked(t, m, other)
		if ready := m.Ready(); ready["go"] != 2 || ready["rust"] != 0 {
			t.Errorf("what has served is gone: %v", ready)
		}
		for range 8 {
			asked(t, m, other)
		}
		if again, _ := asked(t, m, javac("a")); again != id {
			t.Error("what has worked for a tenant went for what another asked for")
		}
	})
}

// One that is large takes the places of as many small ones as it needs, and where there are not so
// many, of none.
func TestPoolMakesRoomForLargeOnes(t *testing.T) {
	const each = baseBytes + 8<<20 // what a waiting program takes here
	for _, c := range []struct {
		bytes        int64
		large, small int
	}{{each + baseBytes, 1, 1}, {2*each - 1, 1, 8}, {each - 1, 0, 8}} {
		synctest.Test(t, func(t *testing.T) {
			m := keeps(t, &warmRuntime{program: interpreter, slow: time.Millisecond}, PoolOptions{Containers: 20, MemoryBytes: c.bytes})
			small := Want{Spec: Spec{Language: "go"}}
			m.Prepare(small, 1)
			taken(t, m, small, 8)
			for range 3 {
				taken(t, m, python(), 3)
				m.pool.mu.Lock()
				_, bytes := m.pool.used()
				m.pool.mu.Unlock()
				if bytes > c.bytes {
					t.Errorf("%d bytes, %d are allowed", bytes, c.bytes)
				}
			}
			if ready := m.Ready(); ready["python"] != c.large || ready["go"] > c.small || ready["go"] == 0 {
				t.Errorf("ready in %d bytes: %v", c.bytes, ready)
			}
		})
	}
}

// One for which there is no room is in nobody's way, and is not wanted for ever.
func TestPoolPassesOverWhatDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: interpreter, slow: time.Millisecond}, PoolOptions{Containers: 20, MemoryBytes: 10 << 20})
		m.Prepare(python(), 1)
		time.Sleep(10 * time.Second)
		large, small := python(), Want{Spec: Spec{Language: "go"}}
		large.Spec.Disk.Bytes++
		for range 3 {
			taken(t, m, large, 3)
		}
		taken(t, m, small, 1)
		taken(t, m, small, 1)
		if ready := m.Ready(); ready["go"] != 1 || ready["python"] != 1 {
			t.Errorf("ready: %v", ready)
		}
		time.Sleep(10 * time.Minute)
		m.pool.mu.Lock()
		defer m.pool.mu.Unlock()
		if n := len(m.pool.classes); n != 1 {
			t.Errorf("%d kinds are remembered after ten minutes", n)
		}
	})
}
