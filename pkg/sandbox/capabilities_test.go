package sandbox

import (
	"errors"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

func TestCheckStrict(t *testing.T) {
	i := Isolation{Limits: map[string]string{
		LimitMemory: api.Sampled, LimitCPUs: api.Degraded, LimitProcesses: api.Absent, LimitOpenFiles: api.Enforced,
	}}
	const doctor = ". Run sandbox-run doctor to see why and how to mend it"
	for _, tc := range []struct {
		limits Limits
		want   string
	}{
		{Limits{CPUs: 0.5, Processes: 1}, ""},
		{Limits{CPUs: 2, Strict: []string{LimitOpenFiles, LimitMemory, LimitCPUs}}, ""},
		{Limits{CPUs: 0.5, Strict: []string{LimitMemory, LimitCPUs}}, "the cpu limit cannot be enforced here: only whole cores can be held, not 0.5" + doctor},
		{Limits{CPUs: 0.5, Strict: []string{LimitProcesses, LimitCPUs}}, "the processes limit cannot be enforced here: nothing holds it" + doctor},
	} {
		err := i.CheckStrict(tc.limits)
		if got := errors.As(err, new(*UnsupportedError)); got != (tc.want != "") || got && err.Error() != tc.want {
			t.Errorf("%+v: %v, want %q", tc.limits, err, tc.want)
		}
	}
	i.LeastMemoryBytes = 512 << 20
	for bytes, want := range map[int64]string{
		511 << 20: "the memory limit cannot be enforced here: programs have 512 MiB, and nothing holds less" + doctor, 512 << 20: "", 0: "",
	} {
		if err := i.CheckStrict(Limits{MemoryBytes: bytes, Strict: []string{LimitMemory}}); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", bytes, err, want)
		}
	}
	if err := i.CheckStrict(Limits{MemoryBytes: 1 << 20}); err != nil {
		t.Errorf("a default below it: %v", err)
	}
	i.Limits[LimitCPUs] = api.Enforced
	if err := i.CheckStrict(Limits{CPUs: 0.5, Strict: []string{LimitCPUs}}); err != nil {
		t.Error(err)
	}
}
