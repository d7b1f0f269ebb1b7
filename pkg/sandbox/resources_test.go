package sandbox

import (
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	if err := (Limits{}).Validate(); err != nil {
		t.Errorf("nothing asked for: %v", err)
	}
	good := []Limits{
		{WallTime: time.Millisecond, CPUTime: time.Millisecond, CPUs: 0.01, MemoryBytes: MinMemoryBytes, Processes: MinProcesses, OpenFiles: MinOpenFiles, FileSizeBytes: 1},
		{WallTime: MaxWallTime, CPUTime: MaxWallTime, CPUs: 4096, MemoryBytes: MaxBytes, Processes: 4 << 20, OpenFiles: 1 << 20, FileSizeBytes: MaxBytes},
	}
	for _, l := range good {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, tc := range []struct {
		l    Limits
		want string
	}{
		{Limits{WallTime: time.Millisecond - 1}, "wall time limit 0.000999999 s is out of range: at least 0.001 s, at most 31536000 s"},
		{Limits{WallTime: MaxWallTime + time.Second}, "wall time limit 31536001 s"},
		{Limits{CPUTime: -time.Second}, "CPU time limit -1 s"},
		{Limits{CPUs: 0.009}, "CPUs limit 0.009 is out of range: at least 0.01, at most 4096"},
		{Limits{CPUs: math.NaN()}, "CPUs limit NaN"},
		{Limits{CPUs: math.Inf(-1)}, "CPUs limit -Inf"},
		{Limits{MemoryBytes: MinMemoryBytes - 1}, "memory limit 4194303 bytes is out of range: at least 4 MiB, at most 1 EiB"}, {Limits{MemoryBytes: 1 << 20}, "memory limit 1 MiB is out of range: at least 4 MiB"},
		{Limits{MemoryBytes: math.MinInt64}, "memory limit -9223372036854775808 B"},
		{Limits{Processes: -1}, "processes limit -1"},
		{Limits{OpenFiles: MinOpenFiles - 1}, "open files limit 7 is out of range: at least 8"},
		{Limits{FileSizeBytes: -1}, "file size limit -1 bytes"},
	} {
		if err := tc.l.Validate(); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.l, err, tc.want)
		}
	}
}

func TestCPUNeedsBothParts(t *testing.T) {
	a, b := time.Second, 2*time.Second
	if d, ok := (Metrics{CPUUser: &a, CPUSystem: &b}).CPU(); !ok || d != 3*time.Second {
		t.Errorf("%v, %v", d, ok)
	}
	for _, m := range []Metrics{{}, {CPUUser: &a}, {CPUSystem: &b}} {
		if d, ok := m.CPU(); ok || d != 0 {
			t.Errorf("%+v: %v, %v", m, d, ok)
		}
	}
}

func TestErrorsAreSentences(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&UnsupportedError{What: "isolation full", Reason: "no namespaces."}, "isolation full cannot be enforced here: no namespaces"},
		{&UnsupportedError{What: "isolation full", Reason: "no namespaces.", Mend: "Run it as root"}, "isolation full cannot be enforced here: no namespaces. Run it as root"},
		{&StartError{Program: "x", Err: syscall.ENOENT}, "cannot start x: no such file or directory"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	if !errors.Is(&StartError{Err: syscall.ENOENT}, syscall.ENOENT) {
		t.Error("errors.Is does not see the cause")
	}
}
