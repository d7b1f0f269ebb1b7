package sandbox

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// What is sooner that way is started like that for a run that found none waiting, and by its
// plain command where it does not come to wait.
func TestNoneWaitsThatIsSooner(t *testing.T) {
	const limit = 2500 * time.Millisecond
	for name, test := range map[string]struct {
		program func(Process) Exit
		level   Level
		sooner  bool
		ahead   bool
		took    time.Duration
	}{
		"sooner":             {interpreter, LevelFull, true, true, 3 * time.Second},
		"not sooner":         {interpreter, LevelFull, false, false, 3 * time.Second},
		"without a root":     {interpreter, LevelRestricted, true, false, 3 * time.Second},
		"it ends beforehand": {func(p Process) Exit { return Exit{Code: 7} }, LevelFull, true, false, 0},
		"it is slow": {func(p Process) Exit {
			if p.Args[0] == "ahead" {
				time.Sleep(time.Hour)
			}
			return Exit{Code: 7}
		}, LevelFull, true, false, limit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: test.program, isolation: Isolation{Level: test.level}}
				w := python()
				w.Ahead.Sooner, w.Ahead.Process.Limits.WallTime = test.sooner, limit
				begin := time.Now()
				out, warm, err := runIn(t, keeps(t, rt, PoolOptions{}), w, Process{Args: []string{"cold"}, Stdout: io.Discard, Stderr: io.Discard, Work: &Work{}, Limits: Limits{MemoryBytes: 64 << 20}})
				if took := time.Since(begin); err != nil || warm || out.Ahead != test.ahead || out.Code != 7 || rt.count() != 0 || took != test.took {
					t.Errorf("warm %v, %+v after %v, %v, %d containers", warm, out, took, err, rt.count())
				}
			})
		})
	}
}

// That what came to nothing cannot be removed is no fault of the run's.
func TestNoneWaitsAndStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: func(Process) Exit { return Exit{Code: 7} }, deleteErr: errors.New("busy")}
		var failed []error
		m := keeps(t, rt, PoolOptions{Failed: func(err error) { failed = append(failed, err) }})
		w := python()
		w.Ahead.Sooner = true
		out, _, err := runIn(t, m, w, Process{Args: []string{"cold"}, Work: &Work{}, Limits: Limits{MemoryBytes: 64 << 20}})
		if err != nil || out.Code != 7 || len(failed) != 1 {
			t.Errorf("%+v, %v, reported %v", out, err, failed)
		}
	})
}
