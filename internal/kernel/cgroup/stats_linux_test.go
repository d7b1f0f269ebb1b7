package cgroup

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// group puts files into a group of a fake host and returns it.
func group(t *testing.T, host fakeHost, l Limits, dirs []string, files fakeHost) *Group {
	t.Helper()
	in := fakeHost{}
	for _, dir := range dirs {
		in[dir+"/sandbox-run/g/tasks"] = ""
	}
	for name, content := range files {
		in["sys/fs/cgroup/"+name] = content
	}
	return &Group{h: detect(t, host.with(in)), name: "g", limits: l}
}

func TestStatsOfVersion2(t *testing.T) {
	g := group(t, v2Host(), Limits{}, []string{"sys/fs/cgroup"}, fakeHost{
		"sandbox-run/g/cpu.stat":       "usage_usec 300\nuser_usec 200\nsystem_usec 100\nnr_throttled 1\nthrottled_usec 7\n",
		"sandbox-run/g/memory.current": "4096\n",
		"sandbox-run/g/memory.peak":    "8192\n",
		"sandbox-run/g/memory.stat":    "anon 1\npgfault 9\npgmajfault 1\n",
		"sandbox-run/g/memory.events":  "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n",
		"sandbox-run/g/pids.current":   "3\n",
		"sandbox-run/g/pids.events":    "max 5\n",
		"sandbox-run/g/io.stat":        "",
	})
	f := func(n int64) Figure { return Figure{n, Version2} }
	us := int64(time.Microsecond)
	want := Stats{
		MemoryBytes: f(4096), MemoryPeakBytes: f(8192), PageFaults: f(9),
		CPUUser: f(200 * us), CPUSystem: f(100 * us),
		Processes: f(3), ProcessesDenied: f(5), // no peak before Linux 6.1
		IOReadBytes: f(0), IOWriteBytes: f(0),
		OOMKills: f(2), MemoryAtLimit: true,
	}
	if diff := cmp.Diff(want, stats(t, g)); diff != "" {
		t.Error(diff)
	}
	used, err := g.Used()
	if diff := cmp.Diff(Stats{MemoryBytes: f(4096), CPUUser: f(200 * us), CPUSystem: f(100 * us)}, used); diff != "" || err != nil {
		t.Errorf("in short: %v %s", err, diff)
	}
}

func TestStatsOfVersion1(t *testing.T) {
	const memory, cpu, pids, blkio = "memory/u/sandbox-run/g/", "cpu,cpuacct/u/sandbox-run/g/", "pids/sandbox-run/g/", "blkio/sandbox-run/g/"
	dirs := []string{"sys/fs/cgroup/memory/u", "sys/fs/cgroup/cpu,cpuacct/u", "sys/fs/cgroup/pids", "sys/fs/cgroup/blkio"}
	files := fakeHost{
		memory + "memory.usage_in_bytes":          "4096\n",
		memory + "memory.max_usage_in_bytes":      "67108864\n",
		memory + "memory.stat":                    "cache 0\npgfault 9\n",
		memory + "memory.oom_control":             "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		cpu + "cpuacct.usage":                     "300\n", // no user and system in old kernels
		cpu + "cpu.stat":                          "nr_periods 1\nnr_throttled 1\nthrottled_time 7\n",
		pids + "pids.current":                     "3\n",
		pids + "pids.events":                      "max 5\n",
		blkio + "blkio.throttle.io_service_bytes": "254:0 Read 4096\n254:0 Write 10\nTotal 4106\n",
	}
	f := func(n int64) Figure { return Figure{n, Version1} }
	want := Stats{
		MemoryBytes: f(4096), MemoryPeakBytes: f(67108864), PageFaults: f(9),
		Processes: f(3), ProcessesDenied: f(5),
		IOReadBytes: f(4096), IOWriteBytes: f(10),
		OOMKills: f(1), MemoryAtLimit: true,
	}
	g := group(t, v1Host(), Limits{MemoryBytes: 67108864}, dirs, files)
	if diff := cmp.Diff(want, stats(t, g)); diff != "" {
		t.Error(diff)
	}
	if used, err := g.Used(); err != nil || used != (Stats{MemoryBytes: f(4096)}) {
		t.Errorf("in short: %+v, %v", used, err)
	}
	// An OOM kill far below the limit was the host's.
	if s := stats(t, group(t, v1Host(), Limits{MemoryBytes: 1 << 30}, dirs, files)); s.MemoryAtLimit || s.OOMKills.Value != 1 {
		t.Errorf("a host out of memory: at limit %v, OOM kills %v", s.MemoryAtLimit, s.OOMKills)
	}
	// Unless memory and swap together were at it.
	files[memory+"memory.memsw.max_usage_in_bytes"] = "1073741824\n"
	if s := stats(t, group(t, v1Host(), Limits{MemoryBytes: 1 << 30}, dirs, files)); !s.MemoryAtLimit {
		t.Error("a limit that was reached in part by what is swapped out is the host's")
	}
}

func TestFigure(t *testing.T) {
	if p := (Figure{}).Pointer(); p != nil {
		t.Errorf("an unknown figure is %d", *p)
	}
	if p := (Figure{0, Version1}).Pointer(); p == nil || *p != 0 {
		t.Error("a known zero is not a zero")
	}
	if f := scaled(Figure{1 << 62, Version2}, time.Microsecond); f.Known() {
		t.Errorf("overflow gives %+v", f)
	}
}

func TestMend(t *testing.T) {
	systemd := detector{euid: 1000, root: fakeHost{"run/systemd/system/x": ""}.root(t)}
	plain := detector{root: t.TempDir()}
	for _, c := range []struct {
		d       detector
		version int
		err     error
		want    string
	}{
		{plain, 2, unix.EROFS, "docker run --privileged"},
		{plain, 1, unix.EROFS, "docker run --privileged"},
		{plain, 1, unix.EACCES, "as root"},
		{plain, 1, unix.ENOENT, "own group is mounted"},
		{systemd, 2, unix.EACCES, "systemd-run --user --scope -p Delegate=yes"},
		{detector{euid: 1000, root: t.TempDir()}, 2, errNotAlone, "systemd-run --user --scope"},
		{plain, 2, errNotAlone, "only process of its container"},
		{systemd, 2, errNotAlone, "systemd-run --user --scope -p Delegate=yes"},
		{systemd, 2, errNotDelegated, "Delegate=cpu io memory pids"},
		{plain, 2, errNotDelegated, "cgroup.subtree_control"},
	} {
		if got := c.d.mend(c.version, fmt.Errorf("wrapped: %w", c.err)); !strings.Contains(got, c.want) {
			t.Errorf("version %d, %v: %q does not say %q", c.version, c.err, got, c.want)
		}
	}
}

// What was opened before is read as it is then, wherever it is found, and closed with the group.
func TestPrepareStats(t *testing.T) {
	g := group(t, v2Host(), Limits{}, []string{"sys/fs/cgroup"}, fakeHost{
		"sandbox-run/g/cpu.stat":       "user_usec 1\nsystem_usec 2\n",
		"sandbox-run/g/memory.current": "4096\n",
		"sandbox-run/g/pids.current":   "3\n",
		"sandbox-run/g/io.stat":        "",
	})
	base := g.h.trees[0].base.Name()
	open := func() (n int) { // of this host, since others may come and go meanwhile
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if file, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(file, base+"/") {
				n++
			}
		}
		return n
	}
	before := open()
	g.PrepareStats()
	prepared := open()
	g.PrepareStats()
	if again := open(); prepared != before+4 || again != prepared {
		t.Errorf("%d descriptors, prepared %d, prepared again %d", before, prepared, again)
	}
	if err := os.WriteFile(base+"/sandbox-run/g/memory.current", []byte("8192\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(base + "/sandbox-run/g/memory.current"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := stats(t, g); s.MemoryBytes.Value != 8192 || s.Processes.Value != 3 || s.CPUUser.Value != 1000 || !s.IOReadBytes.Known() || s.MemoryPeakBytes.Known() {
			t.Errorf("what was opened is read as %+v", s)
		}
	}
	_ = g.Delete() // which is no control group
	g.PrepareStats()
	if left := open(); left != before {
		t.Errorf("%d descriptors are left of %d", left, before)
	}
}
