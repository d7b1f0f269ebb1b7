package sandbox

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fakeRuntime makes containers whose programs are Go functions.
type fakeRuntime struct {
	createErr, startErr, deleteErr error
	program                        func(r *fakeRunning) Exit
	cores                          float64 // that every program burns
	metricsErr                     error
	made                           []*fakeContainer
}

func (*fakeRuntime) Name() string                                { return "fake" }
func (*fakeRuntime) Image(context.Context, Spec) (Image, error)  { return Image{}, nil }
func (*fakeRuntime) Probe(context.Context) (Capabilities, error) { return Capabilities{}, nil }
func (*fakeRuntime) Close() error                                { return nil }
func (rt *fakeRuntime) Create(context.Context, Spec) (Container, error) {
	if rt.createErr != nil {
		return nil, rt.createErr
	}
	c := &fakeContainer{rt: rt, id: string(rune('a' + len(rt.made)))}
	rt.made = append(rt.made, c)
	return c, nil
}

type fakeContainer struct {
	rt      *fakeRuntime
	id      string
	running *fakeRunning
	deletes int
}

func (c *fakeContainer) ID() string                     { return c.id }
func (c *fakeContainer) Isolation() Isolation           { return Isolation{} }
func (c *fakeContainer) Files(string) (FileTree, error) { return nil, errors.ErrUnsupported }
func (c *fakeContainer) Start(context.Context, Process) (Running, error) {
	if c.rt.startErr != nil {
		return nil, c.rt.startErr
	}
	c.running = &fakeRunning{cores: c.rt.cores, metricsErr: c.rt.metricsErr, began: time.Now(), term: make(chan struct{}), killed: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(c.running.done)
		c.running.exit = c.rt.program(c.running)
	}()
	return c.running, nil
}
func (c *fakeContainer) Delete(context.Context) error {
	c.deletes++
	return c.rt.deleteErr
}

type fakeRunning struct {
	began        time.Time
	term, killed chan struct{}
	done         chan struct{}
	exit         Exit
	waitErr      error
	cores        float64 // that it burns
	metricsErr   error
	slow         bool // to hear of signals, until it is killed

	mu         sync.Mutex
	signals    []syscall.Signal
	kills      int
	clockReads int
}

func (r *fakeRunning) Wait() (Exit, error) { <-r.done; return r.exit, r.waitErr }
func (r *fakeRunning) Signal(sig syscall.Signal) error {
	if r.slow {
		<-r.killed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.signals = append(r.signals, sig); len(r.signals) == 1 {
		close(r.term)
	}
	return nil
}
func (r *fakeRunning) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kills++; r.kills == 1 {
		close(r.killed)
	}
	return nil
}
func (r *fakeRunning) Metrics() (Metrics, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clockReads++
	used := time.Duration(r.cores * float64(time.Since(r.began)))
	half := used / 2
	rest := used - half
	return Metrics{CPUUser: &half, CPUSystem: &rest}, r.metricsErr
}
func (r *fakeRunning) Resize(uint16, uint16) error { return nil }

// The programs of these tests.
func deaf(r *fakeRunning) Exit { <-r.killed; return Exit{Code: 137, Signal: 9} }
func obedient(r *fakeRunning) Exit {
	<-r.term
	return Exit{Code: 143, Signal: 15}
}
func sleeps(d time.Duration, code int) func(*fakeRunning) Exit {
	return func(r *fakeRunning) Exit {
		select {
		case <-time.After(d):
			return Exit{Code: code}
		case <-r.killed:
			return Exit{Code: 137, Signal: 9}
		}
	}
}

// started makes a manager with one container.
func started(t *testing.T, program func(*fakeRunning) Exit) (*Manager, *fakeContainer) {
	t.Helper()
	rt := &fakeRuntime{program: program}
	m := NewManager(rt, 0)
	if _, err := m.Create(t.Context(), Spec{}); err != nil {
		t.Fatal(err)
	}
	return m, rt.made[0]
}

func TestManagerEndsPrograms(t *testing.T) {
	wall := Limits{WallTime: 2 * time.Second}
	for _, tc := range []struct {
		name     string
		program  func(*fakeRunning) Exit
		limits   Limits
		cores    float64
		cancel   time.Duration
		cause    Cause
		code     int
		took     time.Duration
		termed   bool
		killed   bool
		maxReads int // of the CPU clock
	}{
		{name: "ends by itself", program: sleeps(time.Second, 3), limits: wall, code: 3, took: time.Second},
		{name: "no limits", program: sleeps(1000*time.Hour, 0), took: 1000 * time.Hour},
		{name: "wall time", program: obedient, limits: wall, cause: CauseWallTime, code: 143, took: 2 * time.Second, termed: true},
		{name: "ends in the grace", program: func(r *fakeRunning) Exit { <-r.term; time.Sleep(499 * time.Millisecond); return Exit{Code: 7} },
			limits: wall, cause: CauseWallTime, code: 7, took: 2499 * time.Millisecond, termed: true},
		{name: "deaf to SIGTERM", program: deaf, limits: wall, cause: CauseWallTime, code: 137, took: 2500 * time.Millisecond, termed: true, killed: true},
		{name: "CPU time", program: obedient, cores: 1, limits: Limits{CPUTime: 3 * time.Second, CPUs: 1}, cause: CauseCPUTime, code: 143, took: 3 * time.Second, termed: true, maxReads: 3},
		{name: "CPU time of four cores", program: deaf, cores: 4, limits: Limits{CPUTime: 4 * time.Second, CPUs: 4}, cause: CauseCPUTime, code: 137, took: 1500 * time.Millisecond, termed: true, killed: true, maxReads: 3},
		{name: "CPU time on half a core that bursts", program: obedient, cores: 1, limits: Limits{CPUTime: time.Second, CPUs: 0.5}, cause: CauseCPUTime, code: 143, took: time.Second, termed: true, maxReads: 3},
		{name: "CPU time not reached", program: sleeps(10*time.Second, 0), limits: Limits{CPUTime: 3 * time.Second, CPUs: 1}, took: 10 * time.Second, maxReads: 4},
		{name: "wall before CPU", program: obedient, cores: 1, limits: Limits{WallTime: time.Second, CPUTime: 3 * time.Second}, cause: CauseWallTime, code: 143, took: time.Second, termed: true},
		{name: "cancelled", program: obedient, limits: wall, cancel: time.Second, cause: CauseCancelled, code: 143, took: time.Second, termed: true},
		{name: "cancelled and deaf", program: deaf, limits: wall, cancel: time.Second, cause: CauseCancelled, code: 137, took: 1500 * time.Millisecond, termed: true, killed: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, c := started(t, tc.program)
				c.rt.cores = tc.cores
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancel > 0 {
					time.AfterFunc(tc.cancel, cancel)
				}
				var seen Running
				began := time.Now()
				out, err := m.Run(ctx, "a", Process{Limits: tc.limits}, func(r Running) { seen = r })
				if err != nil || out.Cause != tc.cause || out.Code != tc.code {
					t.Errorf("outcome %+v, %v; want cause %q, code %d", out, err, tc.cause, tc.code)
				}
				if took := time.Since(began); took < tc.took || took > tc.took+10*time.Millisecond {
					t.Errorf("it took %v, want %v", took, tc.took)
				}
				r := c.running
				if termed := slices.Equal(r.signals, []syscall.Signal{syscall.SIGTERM}); termed != tc.termed || (r.kills > 0) != tc.killed || seen != Running(r) {
					t.Errorf("signals %v, %d kills, watched %v", r.signals, r.kills, seen)
				}
				if most := 4 * tc.maxReads * runtime.NumCPU(); most > 0 && r.clockReads > most {
					t.Errorf("the clock was read %d times", r.clockReads)
				}
			})
		})
	}
}

// A clock that cannot be read leaves the wall.
func TestManagerCPUClockFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := started(t, obedient)
		c.rt.cores, c.rt.metricsErr = 1, errors.New("no clock")
		out, err := m.Run(t.Context(), "a", Process{Limits: Limits{CPUTime: time.Second, WallTime: 5 * time.Second}}, nil)
		if err != nil || out.Cause != CauseWallTime {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

func TestManagerErrors(t *testing.T) {
	broken := errors.New("broken")
	rt := &fakeRuntime{createErr: broken, program: sleeps(0, 0)}
	m := NewManager(rt, time.Second)
	if _, err := m.Create(t.Context(), Spec{}); !errors.Is(err, broken) || len(m.Alive()) != 0 {
		t.Errorf("Create: %v, alive %v", err, m.Alive())
	}
	rt.createErr, rt.startErr = nil, &StartError{Program: "x", Err: syscall.ENOENT}
	if _, err := m.Create(t.Context(), Spec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), "a", Process{}, nil); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("Run: %v", err)
	}
	for what, err := range map[string]error{
		"Run":        second(m.Run(t.Context(), "z", Process{}, nil)),
		"Stop":       m.Stop(t.Context(), "z"),
		"GetMetrics": second(m.GetMetrics("z")),
	} {
		if err == nil || err.Error() != "there is no container z" {
			t.Errorf("%s of a stranger: %v", what, err)
		}
	}
	if _, err := m.GetMetrics("a"); err == nil || !strings.Contains(err.Error(), "nothing runs") {
		t.Errorf("GetMetrics: %v", err)
	}
	if err := m.Stop(t.Context(), "a"); err != nil {
		t.Errorf("Stop of nothing: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestManagerWaitError(t *testing.T) {
	broken := errors.New("broken")
	m, _ := started(t, func(r *fakeRunning) Exit { r.waitErr = broken; return Exit{} })
	if _, err := m.Run(t.Context(), "a", Process{}, nil); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestManagerStop(t *testing.T) {
	for name, tc := range map[string]struct {
		program func(*fakeRunning) Exit
		patient bool
		took    time.Duration
		killed  bool
	}{
		"obedient":           {obedient, true, 0, false},
		"deaf":               {deaf, true, DefaultGrace, true},
		"deaf, with no time": {deaf, false, 0, true},
		"slow to hear":       {func(r *fakeRunning) Exit { r.slow = true; return deaf(r) }, true, DefaultGrace, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, c := started(t, tc.program)
				var group sync.WaitGroup
				group.Go(func() {
					if _, err := m.Run(t.Context(), "a", Process{}, nil); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				if used, err := m.GetMetrics("a"); err != nil || used.CPUUser == nil {
					t.Errorf("metrics %+v, %v", used, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if !tc.patient {
					cancel()
				}
				began := time.Now()
				if err := m.Stop(ctx, "a"); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != tc.took || (c.running.kills > 0) != tc.killed {
					t.Errorf("it took %v with %d kills", took, c.running.kills)
				}
				group.Wait()
				if _, err := m.GetMetrics("a"); err == nil {
					t.Error("what has ended still runs")
				}
			})
		})
	}
}

func TestManagerDeletesOnce(t *testing.T) {
	m, c := started(t, sleeps(0, 0))
	c.rt.deleteErr = errors.New("busy")
	if err := m.Delete(t.Context(), "a"); err == nil {
		t.Error("the error of Delete is lost")
	}
	if err := m.Delete(t.Context(), "a"); err != nil || c.deletes != 1 {
		t.Errorf("the second Delete: %v, %d calls", err, c.deletes)
	}
	if err := m.Delete(t.Context(), "stranger"); err != nil {
		t.Error(err)
	}
}

func TestManagerClose(t *testing.T) {
	rt := &fakeRuntime{program: sleeps(0, 0)}
	m := NewManager(rt, 0)
	for range 3 {
		if _, err := m.Create(t.Context(), Spec{}); err != nil {
			t.Fatal(err)
		}
	}
	alive := m.Alive()
	slices.Sort(alive)
	if !slices.Equal(alive, []string{"a", "b", "c"}) {
		t.Errorf("alive %v", alive)
	}
	rt.deleteErr = errors.New("busy")
	if err := m.Close(); err == nil || strings.Count(err.Error(), "busy") != 3 {
		t.Errorf("Close: %v; want the errors of all three", err)
	}
	for _, c := range rt.made {
		if c.deletes != 1 {
			t.Errorf("%s was deleted %d times", c.id, c.deletes)
		}
	}
	if len(m.Alive()) != 0 {
		t.Errorf("alive %v", m.Alive())
	}
}

func TestManagerGrace(t *testing.T) {
	if m := NewManager(nil, 0); m.grace != DefaultGrace {
		t.Errorf("grace %v", m.grace)
	}
	if m := NewManager(nil, time.Minute); m.grace != time.Minute {
		t.Errorf("grace %v", m.grace)
	}
}

func TestUntilCPUNeverSpins(t *testing.T) {
	s := supervisor{limits: Limits{CPUTime: time.Second, CPUs: 4096}}
	for _, used := range []time.Duration{0, time.Second, time.Hour, math.MaxInt64} {
		if d := s.untilCPU(used); d < 2*time.Millisecond || d > time.Second {
			t.Errorf("%v until the next look with %v used", d, used)
		}
	}
}
