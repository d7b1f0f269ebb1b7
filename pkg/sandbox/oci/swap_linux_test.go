package oci

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestSwapsBeside: memory is called enforced where swap is bounded, turned off for the group,
// or not there.
func TestSwapsBeside(t *testing.T) {
	const (
		swaps = "proc/swaps"
		head  = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		some  = head + "/dev/sda2                               partition\t999420\t\t0\t\t-2\n"
	)
	for name, c := range map[string]struct {
		unified bool
		swaps   string
		files   []string
		want    bool
	}{
		"version 1, which counts it":       {false, some, []string{"memory/memory.memsw.limit_in_bytes", "memory/memory.swappiness"}, false},
		"version 1, which can leave it":    {false, some, []string{"memory/memory.limit_in_bytes", "memory/memory.swappiness"}, false},
		"version 1 with neither":           {false, some, []string{"memory/memory.limit_in_bytes"}, true},
		"version 1 with no swap":           {false, head, []string{"memory/memory.limit_in_bytes"}, false},
		"version 2, which counts it":       {true, some, []string{"system.slice/memory.max", "system.slice/memory.swap.max"}, false},
		"version 2, which does not":        {true, some, []string{"cgroup.controllers", "system.slice/memory.max"}, true},
		"version 2, from a container":      {true, some, []string{"memory.max", "memory.swap.max"}, false},
		"version 2, from one without":      {true, some, []string{"memory.max"}, true},
		"version 2 with no swap":           {true, head, []string{"system.slice/memory.max"}, false},
		"version 2 with no group to ask":   {true, some, []string{"cgroup.controllers"}, false},
		"a kernel that knows of no swap":   {true, "", []string{"system.slice/memory.max"}, false},
		"version 1, files of another tree": {false, some, []string{"memory.swappiness", "memory.swap.max"}, true},
	} {
		root := fstest.MapFS{}
		if c.swaps != "" {
			root[swaps] = &fstest.MapFile{Data: []byte(c.swaps)}
		}
		for _, f := range c.files {
			root["sys/fs/cgroup/"+f] = &fstest.MapFile{}
		}
		for kernel, counted := range map[bool]string{false: api.Enforced, true: api.Absent} {
			r := &Runtime{host: host{unified: c.unified, root: root}, flavour: flavour{ownKernel: kernel}, verdict: func() advisory.Verdict { return advisory.Verdict{} }}
			want, warnings := counted, 0
			if c.want && !kernel {
				want, warnings = api.Degraded, 1
			}
			i := r.isolation(&bundle{})
			told := strings.Count(strings.Join(i.Warnings, "\n"), "does not account for swap")
			if got := i.Limits[sandbox.LimitMemory]; got != want || told != warnings {
				t.Errorf("%s, with a kernel of its own %v: %s, %q", name, kernel, got, i.Warnings)
			}
		}
	}
	if row := memoryRow(api.Degraded, ", by us"); row.Detail != "memory, by us, and as much swap as there is" || row.Mend == "" {
		t.Errorf("%+v", row)
	}
	if row := memoryRow(api.Enforced, ", by us"); row.Detail != "memory and swap, by us" || row.Mend != "" {
		t.Errorf("%+v", row)
	}
}
