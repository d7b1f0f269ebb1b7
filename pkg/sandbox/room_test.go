package sandbox

import (
	"testing"
	"testing/synctest"
	"time"
)

// taken has n containers of a kind in use at a time.
func taken(t *testing.T, m *Manager, w Want, n int) {
	t.Helper()
	var ids []string
	for range n {
		if c, _, err := m.Take(t.Context(), w); err == nil {
			ids = append(ids, c.ID())
		}
	}
	for _, id := range ids {
		_ = m.Delete(t.Context(), id)
	}
	time.Sleep(10 * time.Second)
}

// What nobody wants makes room for what somebody does.
func TestPoolMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{}, PoolOptions{Containers: 2})
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

// One that is large takes the places of as many small ones as it needs, and where there are not so
// many, of none.
func TestPoolMakesRoomForLargeOnes(t *testing.T) {
	const each = baseBytes + 8<<20 // what a waiting program takes here
	for _, c := range []struct {
		bytes        int64
		large, small int
	}{{each + baseBytes, 1, 1}, {2*each - 1, 1, 8}, {each - 1, 0, 8}} {
		synctest.Test(t, func(t *testing.T) {
			m := keeps(t, &warmRuntime{program: interpreter}, PoolOptions{Containers: 20, MemoryBytes: c.bytes})
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
		m := keeps(t, &warmRuntime{program: interpreter}, PoolOptions{Containers: 20, MemoryBytes: 10 << 20})
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
