package monitor

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// script is a process whose figures are written down beforehand; the last one
// stays.
type script struct {
	mu    sync.Mutex
	steps []sandbox.Metrics
	errs  []error
	reads int
}

func (s *script) Metrics() (sandbox.Metrics, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := min(s.reads, len(s.steps)-1)
	s.reads++
	if i < len(s.errs) {
		return s.steps[i], s.errs[i]
	}
	return s.steps[i], nil
}
func (*script) Wait() (sandbox.Exit, error) { return sandbox.Exit{}, nil }
func (*script) Signal(syscall.Signal) error { return nil }
func (*script) Kill() error                 { return nil }
func (*script) Resize(uint16, uint16) error { return nil }
func now(memory, processes int64) sandbox.Metrics {
	return sandbox.Metrics{MemoryBytes: &memory, Processes: &processes}
}

func pointer[T any](v T) *T { return &v }

func TestSamplesComeRegularly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []float64
		m := Watch(&script{steps: []sandbox.Metrics{now(1, 1)}}, Options{OnSample: func(m api.Metrics) { at = append(at, *m.WallTimeS) }})
		time.Sleep(time.Second + time.Millisecond)
		m.Stop()
		time.Sleep(time.Second)
		if len(at) != 10 || at[len(at)-1] != 1 {
			t.Errorf("samples at %v, want 10 in the first second and none later", at)
		}
	})
}

func TestPeaksOfSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{
			steps: []sandbox.Metrics{now(5, 1), now(9, 3), {}, now(99, 99), now(2, 7), now(1, 1)},
			errs:  []error{nil, nil, nil, errors.New("it has ended")},
		}
		disks := []sandbox.DiskUsage{{BytesUsed: 5, BytesTotal: 100, InodesUsed: 1}, {BytesUsed: 3, BytesTotal: 100, InodesUsed: 9}, {BytesUsed: 99}, {BytesUsed: 1, InodesUsed: 1}}
		reads := 0
		var last api.Metrics
		m := Watch(p, Options{OnSample: func(m api.Metrics) { last = m }, Disk: func() (sandbox.DiskUsage, error) {
			i := min(reads, len(disks)-1)
			if reads++; i == 2 {
				return disks[i], errors.New("no disk")
			}
			return disks[i], nil
		}})
		time.Sleep(time.Second)
		m.Stop()
		got := m.Result(sandbox.Exit{Duration: 3 * time.Second})
		want := api.Metrics{WallTimeS: pointer(3.0), MemoryPeakBytes: pointer(int64(9)), ProcessesPeak: pointer(int64(7)),
			Sources: map[string]string{"wall_time_s": "runtime", "memory_peak_bytes": "runtime", "processes_peak": "runtime"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if *last.MemoryPeakBytes != 9 || *last.ProcessesPeak != 7 {
			t.Errorf("the live stream's last peaks %+v", last)
		}
		if diff := cmp.Diff(sandbox.DiskUsage{BytesUsed: 5, BytesTotal: 100, InodesUsed: 9}, m.DiskPeak()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheRuntimesOwnPeakWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Watch(&script{steps: []sandbox.Metrics{now(50, 50)}}, Options{})
		time.Sleep(time.Second)
		m.Stop()
		sources := map[string]string{"memory_peak_bytes": "cgroup2", "processes_peak": "cgroup2", "cpu_time_s": "cgroup2"}
		exit := sandbox.Exit{Duration: time.Second, Metrics: sandbox.Metrics{
			CPUUser: pointer(1500 * time.Millisecond), CPUSystem: pointer(500 * time.Millisecond),
			MemoryPeakBytes: pointer(int64(7)), ProcessesPeak: pointer(int64(2)), IOReadBytes: pointer(int64(3)), IOWriteBytes: pointer(int64(4)),
			PageFaults: pointer(int64(5)), ContextSwitches: pointer(int64(6)), Sources: sources,
		}}
		want := api.Metrics{
			WallTimeS: pointer(1.0), CPUTimeS: pointer(2.0), CPUUserS: pointer(1.5), CPUSystemS: pointer(0.5),
			MemoryPeakBytes: pointer(int64(7)), ProcessesPeak: pointer(int64(2)), IOReadBytes: pointer(int64(3)), IOWriteBytes: pointer(int64(4)),
			PageFaults: pointer(int64(5)), ContextSwitches: pointer(int64(6)),
			Sources: map[string]string{"memory_peak_bytes": "cgroup2", "processes_peak": "cgroup2", "cpu_time_s": "cgroup2", "wall_time_s": "runtime"},
		}
		if diff := cmp.Diff(want, m.Result(exit)); diff != "" {
			t.Error(diff)
		}
		if len(sources) != 3 {
			t.Errorf("the runtime's own map was changed: %v", sources)
		}
	})
}

func TestWhatIsNotKnownStaysNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Watch(&script{steps: []sandbox.Metrics{{}}}, Options{})
		time.Sleep(time.Second)
		m.Stop()
		got := m.Result(sandbox.Exit{})
		if diff := cmp.Diff(api.Metrics{WallTimeS: pointer(0.0), Sources: map[string]string{"wall_time_s": "runtime"}}, got); diff != "" {
			t.Error(diff)
		}
		half := m.Result(sandbox.Exit{Metrics: sandbox.Metrics{CPUUser: pointer(time.Second)}})
		if half.CPUTimeS != nil || half.CPUUserS == nil {
			t.Errorf("%+v: half of the CPU time is not all of it", half)
		}
		if m.DiskPeak() != (sandbox.DiskUsage{}) {
			t.Errorf("disk %+v", m.DiskPeak())
		}
	})
}

// TestPeakIsTheLargest: whatever the samples are, in whatever order.
func TestPeakIsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p *int64
		var want int64 = -1
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 1000)).Draw(t, "samples") {
			keepLargest(&p, &n)
			want = max(want, n)
		}
		keepLargest(&p, nil)
		if (p == nil) != (want < 0) || p != nil && *p != want {
			t.Fatalf("peak %v, want %d", p, want)
		}
	})
}
