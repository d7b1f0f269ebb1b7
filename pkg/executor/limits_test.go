package executor

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// wantInput fails unless err is an [InputError] of a kind whose text has words.
func wantInput(t *testing.T, err error, kind InputKind, words ...string) *InputError {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("error %v, want an InputError", err)
	}
	if input.Kind != kind {
		t.Errorf("kind %d, want %d (%v)", input.Kind, kind, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
	return input
}

func TestDefaultsFillIn(t *testing.T) {
	e := &Executor{cfg: DefaultConfig()}
	e.cfg.Defaults.CPUTime = 7 * time.Second
	e.cfg.Defaults.CPUs = 1e6
	got, err := e.limits(Request{})
	if err == nil {
		t.Logf("limits %+v", got)
	}
	want := e.cfg.Defaults
	want.CPUs = float64(runtime.NumCPU())
	if err != nil || !sameLimits(got, want) {
		t.Errorf("limits %+v, %v; want %+v", got, err, want)
	}
}

func sameLimits(a, b sandbox.Limits) bool {
	return a.WallTime == b.WallTime && a.CPUTime == b.CPUTime && a.CPUs == b.CPUs &&
		a.MemoryBytes == b.MemoryBytes && a.Processes == b.Processes && a.OpenFiles == b.OpenFiles && a.FileSizeBytes == b.FileSizeBytes
}

func TestAskedForLimitsWin(t *testing.T) {
	e := &Executor{cfg: DefaultConfig()}
	asked := sandbox.Limits{WallTime: time.Second, CPUTime: 2 * time.Second, CPUs: 0.5, MemoryBytes: 64 << 20,
		Processes: 3, OpenFiles: 20, FileSizeBytes: 5, Strict: []string{sandbox.LimitMemory}}
	got, err := e.limits(Request{Limits: asked})
	if err != nil || !sameLimits(got, asked) || len(got.Strict) != 1 {
		t.Errorf("limits %+v, %v; want %+v", got, err, asked)
	}
}

func TestLimitsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		limits sandbox.Limits
		field  string
	}{
		"negative wall":       {sandbox.Limits{WallTime: -time.Second}, "/timeout_seconds"},
		"wall below a tick":   {sandbox.Limits{WallTime: time.Microsecond}, "/timeout_seconds"},
		"a wall of centuries": {sandbox.Limits{WallTime: math.MaxInt64}, "/timeout_seconds"},
		"negative CPU time":   {sandbox.Limits{CPUTime: -1}, "/limits/cpu_seconds"},
		"NaN CPUs":            {sandbox.Limits{CPUs: math.NaN()}, "/limits/cpu_cores"},
		"infinite CPUs":       {sandbox.Limits{CPUs: math.Inf(1)}, "/limits/cpu_cores"},
		"negative CPUs":       {sandbox.Limits{CPUs: -1}, "/limits/cpu_cores"},
		"tiny CPUs":           {sandbox.Limits{CPUs: 1e-9}, "/limits/cpu_cores"},
		"negative memory":     {sandbox.Limits{MemoryBytes: -1}, "/limits/memory_mb"},
		"a byte of memory":    {sandbox.Limits{MemoryBytes: 1}, "/limits/memory_mb"},
		"absurd memory":       {sandbox.Limits{MemoryBytes: math.MaxInt64}, "/limits/memory_mb"},
		"negative processes":  {sandbox.Limits{Processes: -1}, "/limits/processes"},
		"absurd processes":    {sandbox.Limits{Processes: math.MaxInt64}, "/limits/processes"},
		"three files":         {sandbox.Limits{OpenFiles: 3}, "/limits/open_files"},
		"negative files":      {sandbox.Limits{OpenFiles: math.MinInt64}, "/limits/open_files"},
		"negative file size":  {sandbox.Limits{FileSizeBytes: -1}, "/limits/disk_mb"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Executor{cfg: DefaultConfig()}).limits(Request{Limits: c.limits})
			input := wantInput(t, err, InputInvalid, "limit", "at least", "at most")
			if input.Field != c.field || strings.Contains(err.Error(), "e+") {
				t.Errorf("field %q, error %q", input.Field, err)
			}
		})
	}
}

func TestLimitsOverTheCeiling(t *testing.T) {
	e := &Executor{cfg: DefaultConfig()}
	e.cfg.Ceilings = sandbox.Limits{WallTime: 10 * time.Second, CPUTime: 5 * time.Second, CPUs: 2, MemoryBytes: 1 << 30, Processes: 200, OpenFiles: 300}
	for _, tc := range []struct {
		ok, over sandbox.Limits
		words    string
	}{
		{sandbox.Limits{WallTime: 10 * time.Second}, sandbox.Limits{WallTime: 10001 * time.Millisecond}, "timeout of 10.001s is over the ceiling of 10s"},
		{sandbox.Limits{CPUTime: 5 * time.Second}, sandbox.Limits{CPUTime: 1000000 * time.Second}, "CPU time of 1000000s is over the ceiling of 5s"},
		{sandbox.Limits{CPUs: 2}, sandbox.Limits{CPUs: 2.5}, "CPUs of 2.5 is over the ceiling of 2 "},
		{sandbox.Limits{MemoryBytes: 1 << 30}, sandbox.Limits{MemoryBytes: 1 << 50}, "memory of 1073741824 MiB is over the ceiling of 1024 MiB"},
		{sandbox.Limits{Processes: 200}, sandbox.Limits{Processes: 201}, "processes of 201 is over the ceiling of 200 "},
		{sandbox.Limits{OpenFiles: 300}, sandbox.Limits{OpenFiles: 301}, "open files of 301 is over the ceiling of 300 "},
	} {
		tc.ok.WallTime = max(tc.ok.WallTime, time.Second)
		if _, err := e.limits(Request{Limits: tc.ok}); err != nil {
			t.Errorf("%+v at the ceiling: %v", tc.ok, err)
		}
		tc.over.WallTime = max(tc.over.WallTime, time.Second)
		_, err := e.limits(Request{Limits: tc.over})
		wantInput(t, err, InputInvalid, tc.words)
	}
}

func TestDiskLimit(t *testing.T) {
	e := &Executor{cfg: DefaultConfig()}
	e.cfg.MaxDiskBytes = 1 << 30
	for _, tc := range []struct {
		asked         int64
		bytes, inodes int64
		words         string
	}{
		{0, 256 << 20, 65536, ""},
		{64 << 10, 64 << 10, 64, ""},
		{1 << 30, 1 << 30, 262144, ""},
		{64<<10 - 1, 0, 0, "at least 64 KiB"},
		{-1, 0, 0, "at least 64 KiB"},
		{1<<30 + 1, 0, 0, "over the ceiling of 1 GiB"},
		{math.MaxInt64, 0, 0, "out of range"},
		{math.MinInt64, 0, 0, "out of range"},
	} {
		got, err := e.disk(Request{DiskBytes: tc.asked})
		if tc.words != "" {
			wantInput(t, err, InputInvalid, tc.words)
			continue
		}
		if err != nil || got.Bytes != tc.bytes || got.Inodes != tc.inodes {
			t.Errorf("disk of %d: %+v, %v", tc.asked, got, err)
		}
	}
}

func TestBoundsOfTheRequest(t *testing.T) {
	for name, req := range map[string]Request{
		"negative output":                      {MaxOutputBytes: -1},
		"absurd output":                        {MaxOutputBytes: math.MaxInt64},
		"negative compile":                     {CompileTimeout: -time.Second},
		"compile of a minute of a microsecond": {CompileTimeout: time.Microsecond},
		"absurd compile":                       {CompileTimeout: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) { wantInput(t, (&Executor{}).checkBounds(req), InputInvalid, "at least", "at most") })
	}
	for _, req := range []Request{{}, {MaxOutputBytes: 1}, {MaxOutputBytes: 64 << 20}, {CompileTimeout: time.Millisecond}, {CompileTimeout: time.Hour}} {
		if err := (&Executor{}).checkBounds(req); err != nil {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

func TestOutputCeiling(t *testing.T) {
	e := &Executor{cfg: Config{OutputCeilingBytes: 1 << 20}}
	if err := e.checkBounds(Request{MaxOutputBytes: 1 << 20}); err != nil {
		t.Error(err)
	}
	input := wantInput(t, e.checkBounds(Request{MaxOutputBytes: 1<<20 + 1}), InputInvalid, "over the ceiling of 1 MiB")
	if input.Field != "/limits/output_kb" {
		t.Errorf("field %q", input.Field)
	}
}

func TestDecimal(t *testing.T) {
	for in, want := range map[float64]string{
		1: "1", 0.5: "0.5", 90: "90", 33: "33", 0.001: "0.001", 0.0015: "0.0015", 1.0 / 3: "0.333333",
		1e6: "1000000", 31536000: "31536000", 0: "0", 2.5: "2.5",
	} {
		if got := decimal(in); got != want {
			t.Errorf("decimal(%v) = %q, want %q", in, got, want)
		}
	}
}

// TestLimitsNeverUnlimited: whatever is asked for, what comes out is an error
// or positive and below the ceilings.
func TestLimitsNeverUnlimited(t *testing.T) {
	e := &Executor{cfg: DefaultConfig()}
	e.cfg.Ceilings = sandbox.Limits{WallTime: time.Minute, CPUs: 8, MemoryBytes: 4 << 30, Processes: 512, OpenFiles: 4096}
	c := e.cfg.Ceilings
	rapid.Check(t, func(t *rapid.T) {
		l, err := e.limits(Request{Limits: sandbox.Limits{
			WallTime:    time.Duration(rapid.Int64().Draw(t, "wall")),
			CPUs:        rapid.Float64().Draw(t, "cpus"),
			MemoryBytes: rapid.Int64().Draw(t, "memory"),
			Processes:   rapid.Int64().Draw(t, "processes"),
			OpenFiles:   rapid.Int64().Draw(t, "files"),
		}})
		if err != nil {
			return
		}
		if l.WallTime <= 0 || l.WallTime > c.WallTime || !(l.CPUs > 0 && l.CPUs <= c.CPUs) || l.MemoryBytes <= 0 || l.MemoryBytes > c.MemoryBytes ||
			l.Processes <= 0 || l.Processes > c.Processes || l.OpenFiles <= 0 || l.OpenFiles > c.OpenFiles {
			t.Fatalf("limits %+v", l)
		}
	})
}
