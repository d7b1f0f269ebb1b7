package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeHost is a directory that looks like a host. Directories in it behave like
// directories, not like groups: a new one has no files.
type fakeHost map[string]string

func (f fakeHost) root(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range f {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// with adds files to a copy.
func (f fakeHost) with(more fakeHost) fakeHost {
	all := fakeHost{}
	for _, m := range []fakeHost{f, more} {
		for name, content := range m {
			all[name] = content
		}
	}
	return all
}

const (
	v2Mount = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
	v1Mount = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
		"32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 31 0:31 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
		"35 31 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
	v1Self = "4:memory:/u\n3:cpu,cpuacct:/u\n2:pids:/\n1:blkio:/\n"
)

func v2Host() fakeHost {
	return fakeHost{
		"proc/self/cgroup":                                 "0::/\n",
		"proc/self/mountinfo":                              v2Mount,
		"sys/fs/cgroup/cgroup.procs":                       "1\n2\n",
		"sys/fs/cgroup/cgroup.controllers":                 "cpuset cpu io memory pids\n",
		"sys/fs/cgroup/cgroup.subtree_control":             "memory pids\n",
		"sys/fs/cgroup/sandbox-run/cgroup.subtree_control": "",
		"sys/fs/cgroup/sandbox-run/cpu.stat":               "",
		"sys/fs/cgroup/sandbox-run/cgroup.kill":            "",
		"sys/fs/cgroup/sandbox-run/memory.swap.max":        "",
	}
}

func v1Host() fakeHost {
	return fakeHost{
		"proc/self/cgroup":                   v1Self,
		"proc/self/mountinfo":                v1Mount,
		"sys/fs/cgroup/memory/u/tasks":       "",
		"sys/fs/cgroup/cpu,cpuacct/u/tasks":  "",
		"sys/fs/cgroup/pids/tasks":           "",
		"sys/fs/cgroup/blkio/tasks":          "",
		"sys/fs/cgroup/memory/u/cgroup.kill": "no such file in version 1",
	}
}

func detect(t *testing.T, host fakeHost) *Hierarchy {
	t.Helper()
	h, err := Detect(Options{Root: host.root(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		host  fakeHost
		want  map[Controller]int
		trees int
		homes int
	}{
		"version 2": {v2Host(), map[Controller]int{Memory: 2, CPU: 2, CPUAccounting: 2, PIDs: 2, IO: 2, Kill: 2}, 1, 0},
		"version 2, some controllers": {v2Host().with(fakeHost{"sys/fs/cgroup/cgroup.controllers": "memory pids\n"}),
			map[Controller]int{Memory: 2, PIDs: 2, CPUAccounting: 2, Kill: 2}, 1, 0},
		"version 1": {v1Host(), map[Controller]int{Memory: 1, CPU: 1, CPUAccounting: 1, PIDs: 1, IO: 1}, 4, 4},
		"version 1, a container's mounts": {fakeHost{
			"proc/self/cgroup":              "4:memory:/docker/0a\n2:pids:/elsewhere\n",
			"proc/self/mountinfo":           "32 31 0:29 /docker/0a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 31 0:30 /docker/0a /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
			"sys/fs/cgroup/memory/tasks":    "",
			"sys/fs/cgroup/pids/tasks":      "",
			"sys/fs/cgroup/memory/x/ignore": "",
		}, map[Controller]int{Memory: 1}, 1, 1},
		"version 1 without its own group": {v1Host().with(fakeHost{"proc/self/cgroup": strings.ReplaceAll(v1Self, "/u", "/gone")}),
			map[Controller]int{PIDs: 1, IO: 1}, 2, 2},
		"hybrid": {v1Host().with(fakeHost{
			"proc/self/cgroup":                              v1Self + "0::/\n",
			"proc/self/mountinfo":                           v1Mount + strings.Replace(v2Mount, "/sys/fs/cgroup", "/sys/fs/cgroup/unified", 1),
			"sys/fs/cgroup/unified/cgroup.procs":            "1\n",
			"sys/fs/cgroup/unified/cgroup.controllers":      "hugetlb\n",
			"sys/fs/cgroup/unified/sandbox-run/cpu.stat":    "",
			"sys/fs/cgroup/unified/sandbox-run/cgroup.kill": "",
		}), map[Controller]int{Memory: 1, CPU: 1, CPUAccounting: 2, PIDs: 1, IO: 1, Kill: 2}, 5, 4},
		"outside of the namespace": {v2Host().with(fakeHost{"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/cgroup.type": "domain\n"}),
			map[Controller]int{}, 0, 0},
		"nothing": {fakeHost{"proc/self/cgroup": "", "proc/self/mountinfo": "27 1 254:0 / / rw - ext4 /dev/vda rw\n"},
			map[Controller]int{}, 0, 0},
		"no control groups in the kernel": {fakeHost{"proc/self/mountinfo": ""}, map[Controller]int{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := detect(t, c.host)
			for controller, s := range h.Controllers() {
				if s.Version != c.want[controller] {
					t.Errorf("%s: version %d (%s), want %d", controller, s.Version, s.Reason, c.want[controller])
				}
				if (s.Version == 0) != (s.Reason != "" && s.Mend != "") {
					t.Errorf("%s: version %d, reason %q, mend %q", controller, s.Version, s.Reason, s.Mend)
				}
			}
			if len(h.trees) != c.trees || len(h.HomeTasksFiles()) != c.homes {
				t.Errorf("%d trees, %d homes", len(h.trees), len(h.HomeTasksFiles()))
			}
		})
	}
}

// TestSwapsBeside: a limit of memory is whole where the kernel counts swap with it, or keeps
// the group from swapping, or there is no swap.
func TestSwapsBeside(t *testing.T) {
	const (
		head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		some = head + "/dev/sda2                               partition\t999420\t\t0\t\t-2\n"
	)
	uncounted := v2Host()
	delete(uncounted, "sys/fs/cgroup/sandbox-run/memory.swap.max")
	v1 := "sys/fs/cgroup/memory/u/sandbox-run/memory."
	for name, c := range map[string]struct {
		host  fakeHost
		swaps string
		want  bool
	}{
		"version 2, which counts it":    {v2Host(), some, false},
		"version 2, which does not":     {uncounted, some, true},
		"version 2, no swap":            {uncounted, head, false},
		"version 1 with neither":        {v1Host(), some, true},
		"version 1, no swap":            {v1Host(), head, false},
		"version 1, which counts it":    {v1Host().with(fakeHost{v1 + "memsw.limit_in_bytes": ""}), some, false},
		"version 1, which can leave it": {v1Host().with(fakeHost{v1 + "swappiness": "60"}), some, false},
		"nothing that limits memory":    {v2Host().with(fakeHost{"sys/fs/cgroup/cgroup.controllers": "pids\n"}), some, false},
	} {
		if got := detect(t, c.host.with(fakeHost{"proc/swaps": c.swaps})).SwapsBeside(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDetectErrors(t *testing.T) {
	for name, host := range map[string]fakeHost{
		"no /proc":      {"x": ""},
		"bad cgroup":    {"proc/self/cgroup": "?\n", "proc/self/mountinfo": ""},
		"bad mountinfo": {"proc/self/cgroup": "", "proc/self/mountinfo": "?\n"},
	} {
		if _, err := Detect(Options{Root: host.root(t)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Detect(Options{Parent: "../x"}); err == nil {
		t.Error("a parent outside of the tree was taken")
	}
}

// A new directory of the fake has no limit files: every limit fails, and the
// directory must be gone again.
func TestLimitThatCannotBeWritten(t *testing.T) {
	for name, host := range map[string]fakeHost{"version 2": v2Host(), "version 1": v1Host()} {
		for file, l := range map[string]Limits{
			"memory.": {MemoryBytes: 1 << 20}, "cpu.": {CPUs: 0.5}, "pids.max": {Processes: 9},
		} {
			h := detect(t, host)
			_, err := h.Create("run-1", l)
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "run-1/") {
				t.Errorf("%s, %s: %v; want the file and the errno", name, file, err)
			}
			for _, tr := range h.trees {
				if tr.base.exists(tr.parent + "/run-1") {
					t.Errorf("%s, %s: %s is left", name, file, tr.base.path(tr.parent+"/run-1"))
				}
			}
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	h := detect(t, fakeHost{"proc/self/cgroup": "", "proc/self/mountinfo": ""})
	for c, l := range map[Controller]Limits{Memory: {MemoryBytes: 1}, CPU: {CPUs: 1}, PIDs: {Processes: 1}} {
		_, err := h.Create("run", l)
		var absent *AbsentError
		if !errors.As(err, &absent) || absent.Controller != c || !strings.Contains(err.Error(), "To mend it: ") {
			t.Errorf("%s: %v", c, err)
		}
	}
	zero := 0.0
	for _, l := range []Limits{{MemoryBytes: -1}, {Processes: -1}, {CPUs: -1}, {CPUs: 0.0001}, {CPUs: 1e9}, {CPUs: zero / zero}} {
		if _, err := h.Create("run", l); err == nil {
			t.Errorf("%+v was taken", l)
		}
	}
	if _, err := h.Create("../x", Limits{}); err == nil {
		t.Error("a name with a slash was taken")
	}
}

// Without any tree a group is a name: nothing to join, limit or remove, and
// killing it must not look like success.
func TestGroupWithoutTrees(t *testing.T) {
	h := detect(t, fakeHost{"proc/self/cgroup": "", "proc/self/mountinfo": ""})
	g, err := h.Create("run", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Kill() == nil {
		t.Error("Kill reports success")
	}
	if s, err := g.Stats(); err != nil || s != (Stats{}) || s.CPUUser.Pointer() != nil {
		t.Errorf("%+v, %v", s, err)
	}
	stop, err := g.NotifyOOM(func() {})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := errors.Join(g.WaitEmpty(t.Context()), g.Delete()); err != nil {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	limits := Limits{MemoryBytes: 67108864, CPUs: 1.5, Processes: 64}
	for _, c := range []struct {
		version int
		swap    bool
		want    []setting
	}{
		{2, true, []setting{{"memory.max", "67108864"}, {"memory.oom.group", "1"}, {"memory.swap.max", "0"}, {"cpu.max", "1500000 1000000"}, {"pids.max", "64"}}},
		{2, false, []setting{{"memory.max", "67108864"}, {"memory.oom.group", "1"}, {"cpu.max", "1500000 1000000"}, {"pids.max", "64"}}},
		{1, true, []setting{{"memory.limit_in_bytes", "67108864"}, {"memory.memsw.limit_in_bytes", "67108864"}, {"cpu.cfs_period_us", "1000000"}, {"cpu.cfs_quota_us", "1500000"}, {"pids.max", "64"}}},
		{1, false, []setting{{"memory.limit_in_bytes", "67108864"}, {"cpu.cfs_period_us", "1000000"}, {"cpu.cfs_quota_us", "1500000"}, {"pids.max", "64"}}},
	} {
		tr := tree{version: c.version, swap: c.swap, uses: controllers()}
		got := tr.settings(limits)
		if len(got) != len(c.want) {
			t.Errorf("version %d: %v", c.version, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("version %d: %v, want %v", c.version, got[i], c.want[i])
			}
		}
		if none := tr.settings(Limits{}); len(none) > 0 {
			t.Errorf("without limits: %v", none)
		}
	}
}
