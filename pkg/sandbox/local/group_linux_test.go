package local

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What was made ahead is the process's own if it has the limits that were expected, and is
// in nobody's way otherwise.
func TestExpect(t *testing.T) {
	rt := opened(t)
	if rt.host.cgroups == nil {
		t.Skip("this host grants no control groups")
	}
	expected := sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1}
	other := expected
	other.MemoryBytes /= 2
	for name, tc := range map[string]struct {
		limits []sandbox.Limits // of the processes, one after the other
		groups int              // that were made
	}{
		"nothing runs":     {nil, 1},
		"as expected":      {[]sandbox.Limits{expected}, 1},
		"another":          {[]sandbox.Limits{other}, 2},
		"only the next is": {[]sandbox.Limits{expected, expected}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := rt.Create(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
			if err != nil {
				t.Fatal(err)
			}
			c := made.(*container)
			if err := c.Expect(expected); err != nil {
				t.Fatal(err)
			}
			for _, limits := range tc.limits {
				running, err := c.Start(t.Context(), sandbox.Process{
					// The shell ends because the group does: on cgroup v1 the kernel kills tail alone.
					Args: []string{"/bin/sh", "-c", "tail /dev/zero; exec sleep 1000"}, Limits: limits,
				})
				if err != nil {
					t.Fatal(err)
				}
				exit, err := running.Wait()
				if err != nil {
					t.Fatal(err)
				}
				if exit.OOMKills == 0 || exit.HostOOM || exit.Metrics.MemoryPeakBytes == nil || *exit.Metrics.MemoryPeakBytes > limits.MemoryBytes {
					t.Errorf("more than %d bytes of memory, and it ended with %+v", limits.MemoryBytes, exit)
				}
			}
			if c.groups != tc.groups {
				t.Errorf("%d groups were made, not %d", c.groups, tc.groups)
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
