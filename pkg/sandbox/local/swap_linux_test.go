package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestSwapBeside: where programs may have swap beside their limit of memory, every level says
// so, and doctor how to mend it.
func TestSwapBeside(t *testing.T) {
	for swapMax, want := range map[string]string{"memory.swap.max": api.Enforced, "memory.max": api.Degraded} {
		root := t.TempDir()
		for name, content := range map[string]string{
			"proc/swaps":                                       "Filename\t\t\t\tType\n/dev/sda2 partition\n",
			"proc/self/cgroup":                                 "0::/\n",
			"proc/self/mountinfo":                              "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/cgroup.controllers":                 "cpu memory pids\n",
			"sys/fs/cgroup/cgroup.subtree_control":             "cpu memory pids\n",
			"sys/fs/cgroup/cgroup.procs":                       "1\n",
			"sys/fs/cgroup/sandbox-run/" + swapMax:             "",
			"sys/fs/cgroup/sandbox-run/cgroup.kill":            "",
			"sys/fs/cgroup/sandbox-run/cgroup.procs":           "",
			"sys/fs/cgroup/sandbox-run/cgroup.subtree_control": "",
		} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		groups, err := cgroup.Detect(cgroup.Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(groups.Close)
		r := &Runtime{host: host{cgroups: groups}}
		for _, i := range []sandbox.Isolation{r.host.isolationFull(), r.host.isolationOutside(wallsRestricted, nil)} {
			told := strings.Contains(strings.Join(i.Warnings, "\n"), "memory is degraded")
			if i.Limits[sandbox.LimitMemory] != want || told != (want == api.Degraded) {
				t.Errorf("%s at %s: %v, %q", swapMax, i.Level, i.Limits, i.Warnings)
			}
		}
		rows := r.limitMechanisms(true)
		row := rows[slices.IndexFunc(rows, func(m sandbox.Mechanism) bool { return m.Name == "limit:memory" })]
		if row.State != want || (row.Mend != "") != (want == api.Degraded) || !strings.HasSuffix(row.Detail, ", by cgroup v2") || strings.Contains(row.Detail, "as much swap") != (want == api.Degraded) {
			t.Errorf("%s: %+v", swapMax, row)
		}
	}
}
