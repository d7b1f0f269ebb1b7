package sandbox

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func (rt *warmRuntime) holds() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.held
}

// The memory is held of interpreters that wait, unless more of them are missing than are being made;
// of forked ones as of others, and of none that does not wait for one work.
func TestPoolHoldsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{slow: time.Millisecond, program: func(p Process) Exit {
			_, _ = p.Stdout.Write([]byte{Waiting})
			_, _ = readWork(p.Stdin)
			return Exit{}
		}}
		m := keeps(t, rt, PoolOptions{Makers: 1})
		m.Prepare(python(), 3)
		settle(20 * time.Second)
		if held := rt.holds(); rt.made != 3 || held != 1 {
			t.Errorf("of %d of which one was made after the other %d are held", rt.made, held)
		}
		c, _, err := m.Take(t.Context(), python())
		if err == nil {
			err = m.Delete(t.Context(), c.ID())
		}
		if err != nil {
			t.Fatal(err)
		}
		settle(10 * time.Second)
		if held := rt.holds(); held != 2 {
			t.Errorf("%d are held, the one that follows the last among them", held)
		}
		quiet := python()
		quiet.Ahead.Quiet = true
		m.Prepare(quiet, 1)
		m.Prepare(Want{Spec: Spec{Language: "go"}}, 1)
		settle(20 * time.Second)
		if held := rt.holds(); held != 2 {
			t.Errorf("%d are held, the quiet among them", held)
		}
	})
}

// What could not be held is used by nobody, and another is made.
func TestPoolWhereNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("nobody may")
		var failed []error
		rt := &warmRuntime{program: interpreter, holdErr: broken}
		m := keeps(t, rt, PoolOptions{Failed: func(err error) { failed = append(failed, err) }})
		m.Prepare(python(), 1)
		settle(10 * time.Second)
		if len(failed) == 0 || !errors.Is(failed[0], broken) || m.Ready()["python"] != 0 || rt.count() != 0 {
			t.Errorf("failed %v, ready %v, %d containers", failed, m.Ready(), rt.count())
		}
		rt.mu.Lock()
		rt.holdErr = nil
		rt.mu.Unlock()
		settle(2 * pauseMost)
		if m.Ready()["python"] != 1 {
			t.Errorf("ready %v", m.Ready())
		}
	})
}
