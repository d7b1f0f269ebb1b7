package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

func TestChildIsBornInside(t *testing.T) {
	h := live(t)
	g := create(t, h, "born", Limits{Processes: 50})
	before, _ := os.ReadFile("/proc/self/cgroup")
	cmd := again("sleep")
	startIn(t, g, cmd)
	inside, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := parseMembership(inside)
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range h.trees {
		for _, c := range tr.uses {
			key := legacyName(c)
			if tr.version == 2 {
				key = unified
			}
			if !strings.HasSuffix(paths[key], "/"+tr.parent+"/born") {
				t.Errorf("the child's %s group is %s", c, paths[key])
			}
		}
	}
	if after, _ := os.ReadFile("/proc/self/cgroup"); string(after) != string(before) {
		t.Errorf("we are not back home:\n%s\nwas:\n%s", after, before)
	}
	if empty, err := g.Empty(); empty || err != nil {
		t.Errorf("empty %v, %v with a child inside", empty, err)
	}
	kill(t, g)
	if err := cmd.Wait(); err == nil {
		t.Error("the child was not killed")
	}
}

func kill(t *testing.T, g *Group) {
	t.Helper()
	if err := errors.Join(g.Kill(), g.WaitEmpty(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryLimit(t *testing.T) {
	h := live(t)
	for _, c := range []struct {
		what    string
		oom     bool
		atLimit bool
	}{
		{"eat 300", true, true},
		{"eat-then-kill 90", false, false}, // at most of its limit
		{"eat 20", false, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			g := create(t, h, "memory", Limits{MemoryBytes: 128 * mib})
			cmd := again(c.what)
			startIn(t, g, cmd)
			err := cmd.Wait()
			s := stats(t, g)
			if got := s.OOMKills.Value > 0; got != c.oom || !s.OOMKills.Known() {
				t.Errorf("OOM kills %+v after %v", s.OOMKills, err)
			}
			if s.MemoryAtLimit != c.atLimit {
				t.Errorf("at limit: %v with a peak of %d", s.MemoryAtLimit, s.MemoryPeakBytes.Value)
			}
			if s.MemoryPeakBytes.Value > 129*mib || s.MemoryPeakBytes.Value < 20*mib {
				t.Errorf("peak %d", s.MemoryPeakBytes.Value)
			}
			if s.PageFaults.Value < 20*mib/4096 {
				t.Errorf("page faults %+v", s.PageFaults)
			}
		})
	}
}

// Without memory.oom.group the kernel kills the child alone; the notification
// must end the parent.
func TestNotifyOOM(t *testing.T) {
	h := live(t)
	g := create(t, h, "oom", Limits{MemoryBytes: 64 * mib})
	stop, err := g.NotifyOOM(func() {
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := again("eat-by-child 200")
	startIn(t, g, cmd)
	if err := cmd.Wait(); err == nil {
		t.Error("the parent lived on")
	}
	if s := stats(t, g); s.OOMKills.Value == 0 {
		t.Errorf("OOM kills %+v", s.OOMKills)
	}
	stop()
}

func TestNotifyOOMIsSilentOnDelete(t *testing.T) {
	h := live(t)
	g := create(t, h, "silent", Limits{MemoryBytes: 64 * mib})
	called := make(chan struct{}, 1)
	stop, err := g.NotifyOOM(func() { called <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Delete(); err != nil {
		t.Fatal(err)
	}
	stop()
	if len(called) > 0 {
		t.Error("removing the group was taken for an OOM kill")
	}
}

func TestProcessLimit(t *testing.T) {
	h := live(t)
	g := create(t, h, "pids", Limits{Processes: 24})
	cmd := again("fork 40")
	startIn(t, g, cmd)
	if err := cmd.Wait(); err == nil {
		t.Error("40 processes fit into a limit of 24")
	}
	s := stats(t, g)
	if s.ProcessesDenied.Value == 0 {
		t.Errorf("denials %+v", s.ProcessesDenied)
	}
	if s.ProcessesPeak.Known() && s.ProcessesPeak.Value != 24 {
		t.Errorf("peak %d", s.ProcessesPeak.Value)
	}
	if s.Processes.Value == 0 {
		t.Errorf("processes %+v while children sleep", s.Processes)
	}
	kill(t, g)
}

// throttled is how long the CPU limit has held a group back, in the unit of the kernel's file.
func throttled(t *testing.T, g *Group) int64 {
	t.Helper()
	tree, key := g.h.treeOf(CPU), "throttled_time"
	if tree.version == 2 {
		key = "throttled_usec"
	}
	data, err := tree.base.read(tree.file(g, "cpu.stat"), make([]byte, statBuffer))
	n, ok := keyed(data, key)
	if err != nil || !ok {
		t.Fatalf("no throttled time in %q, %v", data, err)
	}
	return n
}

func TestCPULimitThrottles(t *testing.T) {
	h := live(t)
	g := create(t, h, "cpu", Limits{CPUs: 0.1})
	cmd := again("burn 250")
	start := time.Now()
	startIn(t, g, cmd)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	wall := time.Since(start)
	s, cpu, held := stats(t, g), used(t, g), throttled(t, g)
	if cpu < 250*time.Millisecond {
		t.Errorf("CPU time %v; the program counted 250 ms", cpu)
	}
	// Either it was held back, or a busy machine gave it no more than a tenth of
	// every second that was begun.
	if most := (wall + time.Second) / 10; cpu > most && held == 0 {
		t.Errorf("CPU time %v within %v, never throttled", cpu, wall)
	}
	if s.CPUUser.Value+s.CPUSystem.Value == 0 {
		t.Error("no user and system time")
	}
}

// A group may be asked for more than what a group above it has, as in a container with less than
// a core: the tighter one holds, on version 1 too, which refuses the other.
func TestTighterCPUAbove(t *testing.T) {
	h := live(t)
	tr := h.treeOf(CPU)
	file, half := tr.parent+"/"+quotaFile, "50000" // of the period that groups have: 100 ms
	if tr.version == 2 {
		file, half = tr.parent+"/cpu.max", "50000 100000"
	}
	if err := tr.base.write(file, half); err != nil {
		t.Fatal(err)
	}
	g := create(t, h, "wide", Limits{CPUs: 1})
	startIn(t, g, again("burn 50"))
	narrow := create(t, h, "narrow", Limits{CPUs: 0.1})
	if tr.version == 1 {
		data, err := tr.base.read(tr.file(narrow, quotaFile), make([]byte, 64))
		if got := strings.TrimSpace(string(data)); err != nil || got != "100000" {
			t.Errorf("a limit below that above is %s, %v", got, err)
		}
	}
}

func TestLiftCPU(t *testing.T) {
	h := live(t)
	for cpus, want := range map[float64]string{0.1: "100000", 0: ""} {
		g := create(t, h, "lift", Limits{CPUs: cpus})
		tr := h.treeOf(CPU)
		quota := func() string {
			var buf [64]byte
			for _, file := range []string{"cpu.max", "cpu.cfs_quota_us"} {
				if data, err := tr.base.read(tr.file(g, file), buf[:]); err == nil {
					return strings.Fields(string(data))[0]
				}
			}
			return "none"
		}
		if got := quota(); want != "" && got != want {
			t.Errorf("quota %s, want %s", got, want)
		}
		if err := g.LiftCPU(); err != nil {
			t.Error(err)
		}
		if got := quota(); got != "-1" && got != "max" {
			t.Errorf("quota %s when it is lifted", got)
		}
		if err := g.Delete(); err != nil {
			t.Error(err)
		}
		if err := g.LiftCPU(); err != nil {
			t.Errorf("of a group that is gone: %v", err)
		}
	}
}

func TestKillEndsAForkBomb(t *testing.T) {
	for _, list := range []bool{false, true} {
		t.Run(fmt.Sprintf("by list %v", list), func(t *testing.T) {
			h := live(t)
			if list {
				h = withoutUnified(t, h)
			}
			g := create(t, h, "bomb", Limits{Processes: 200, CPUs: 1})
			cmd := again("bomb")
			startIn(t, g, cmd)
			for stats(t, g).Processes.Value < 100 {
				time.Sleep(time.Millisecond)
			}
			kill(t, g)
			_ = cmd.Wait()
			for _, tr := range h.trees { // pids.current still counts zombies
				if pids, err := tr.pids(tr.parent + "/bomb"); len(pids) > 0 || err != nil {
					t.Errorf("processes %v are left, %v", pids, err)
				}
			}
		})
	}
}

// withoutUnified is the same host without version 2.
func withoutUnified(t *testing.T, h *Hierarchy) *Hierarchy {
	t.Helper()
	if h.support[Memory].Version == 2 {
		t.Skip("this host has no version 1 controllers")
	}
	legacy := &Hierarchy{support: h.support, shares: map[string]int{}}
	for _, tr := range h.trees {
		if tr.version == 1 {
			legacy.trees = append(legacy.trees, tr)
		}
	}
	return legacy
}

func TestDeleteWithProcessesInside(t *testing.T) {
	h := live(t)
	g := create(t, h, "busy", Limits{})
	cmd := again("sleep")
	startIn(t, g, cmd)
	err := g.Delete()
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("Delete: %v; want EBUSY and the pid %d", err, cmd.Process.Pid)
	}
	kill(t, g)
	_ = cmd.Wait()
}

func TestStatsAndKillOfADeletedGroup(t *testing.T) {
	h := live(t)
	g := create(t, h, "gone", Limits{})
	if err := g.Delete(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Stats(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stats: %v", err)
	}
	if err := errors.Join(g.Kill(), g.WaitEmpty(t.Context())); err != nil {
		t.Error(err)
	}
	if _, ok := g.V2Dir(); ok || len(g.TasksFiles()) > 0 {
		t.Error("descriptors of a deleted group")
	}
}

// A quota that the kernel refuses comes after directories and limits that
// worked: all of them must be gone.
func TestCreateUndoesWhatItMade(t *testing.T) {
	h := live(t)
	before := groups(t, h)
	_, err := h.Create("undone", Limits{MemoryBytes: 64 * mib, Processes: 1 << 40})
	if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "pids.max") || !strings.Contains(err.Error(), "1099511627776") {
		t.Errorf("error %v; want file, value and errno", err)
	}
	if after := groups(t, h); !slices.Equal(after, before) {
		t.Errorf("groups %v, before %v", after, before)
	}
	if g := create(t, h, "twice", Limits{}); g.Name() != "twice" {
		t.Errorf("name %q", g.Name())
	}
	if _, err := h.Create("twice", Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second group of one name: %v", err)
	}
	if _, err := h.trees[0].base.subdirs(h.trees[0].parent + "/twice"); err != nil {
		t.Errorf("the first group of that name is gone: %v", err)
	}
}

// groups lists what exists below the parent of every tree.
func groups(t *testing.T, h *Hierarchy) []string {
	t.Helper()
	var all []string
	for _, tr := range h.trees {
		names, err := tr.base.subdirs(tr.parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			all = append(all, tr.base.path(n))
		}
	}
	return all
}

func TestCreateRestoresTheParent(t *testing.T) {
	h := live(t)
	for _, tr := range h.trees {
		if err := tr.base.rmdir(tr.parent); err != nil {
			t.Fatal(err)
		}
	}
	g := create(t, h, "restored", Limits{MemoryBytes: 64 * mib})
	cmd := again("eat 200")
	startIn(t, g, cmd)
	_ = cmd.Wait()
	if s := stats(t, g); s.OOMKills.Value == 0 {
		t.Errorf("no limit after the parent was restored: %+v", s)
	}
}

func TestReclaim(t *testing.T) {
	h := live(t)
	mine := create(t, h, "live-1", Limits{})
	dead := create(t, h, "dead-1", Limits{})
	create(t, h, "dead-2", Limits{})
	cmd := again("sleep")
	startIn(t, dead, cmd)
	for _, tr := range h.trees { // a group below, as a privileged run might make
		if err := tr.base.mkdir(tr.parent + "/dead-2/below"); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := h.Reclaim("dead-")
	if err != nil || !slices.Equal(removed, []string{"dead-1", "dead-2"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("what was inside lived on")
	}
	if _, err := mine.Stats(); err != nil {
		t.Errorf("a group with another prefix: %v", err)
	}
	if removed, err := h.Reclaim("dead-"); len(removed) > 0 || err != nil {
		t.Errorf("again: %v, %v", removed, err)
	}
	if _, err := h.Reclaim(""); err == nil {
		t.Error("an empty prefix would take everything")
	}
}

// What a process has left that made its groups elsewhere is found by its word.
func TestReclaimElsewhere(t *testing.T) {
	h := live(t)
	elsewhere, err := Detect(Options{Parent: fmt.Sprintf("sandbox-run-test-%d-elsewhere", os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(elsewhere.Close)
	dead := create(t, elsewhere, "dead-1", Limits{})
	create(t, elsewhere, "live-1", Limits{})
	cmd := again("sleep")
	startIn(t, dead, cmd)
	places := append(elsewhere.Places(), "/sys/fs/cgroup/that-is-gone/sandbox-run")
	if removed, err := h.Reclaim("dead-"); len(removed) > 0 || err != nil {
		t.Errorf("without its word: %v, %v", removed, err)
	}
	if removed, err := h.Reclaim("dead-", places...); err != nil || !slices.Equal(removed, []string{"dead-1"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("what was inside lived on")
	}
	if removed, err := h.Reclaim("live-", places...); err != nil || !slices.Equal(removed, []string{"live-1"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	for _, place := range elsewhere.Places() {
		if _, err := os.Stat(place); !os.IsNotExist(err) {
			t.Errorf("%s: %v", place, err)
		}
	}
}
