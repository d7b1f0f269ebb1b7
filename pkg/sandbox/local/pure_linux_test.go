package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// outside is a container whose world is made of host directories.
func outside(paths ...string) *container {
	c := &container{}
	for i := 0; i < len(paths); i += 2 {
		c.stand(paths[i], paths[i+1])
	}
	return c
}

var worldPaths = []string{"/build/cache/", "/h/cache", "/workspace", "/h/c1/workspace", "/build", "/h/c1/build", "/tmp", "/h/c1/tmp", "/build/cache/deep", "/h/deep"}

func TestTranslatePath(t *testing.T) {
	c := outside(worldPaths...)
	for in, want := range map[string]string{
		"": "", "/": "/", "main.py": "main.py", "/usr/bin/python3": "/usr/bin/python3",
		"/workspace": "/h/c1/workspace", "/workspace/": "/h/c1/workspace/", "/workspace/a b": "/h/c1/workspace/a b",
		"/workspaces": "/workspaces", "/workspace.txt": "/workspace.txt", "x/workspace": "x/workspace", "/a/workspace": "/a/workspace",
		"-I/workspace": "-I/workspace", "--out=/build/main": "--out=/h/c1/build/main", "A=/tmp:/workspace/x,/build": "A=/h/c1/tmp:/h/c1/workspace/x,/h/c1/build",
		"/build/cache/x": "/h/cache/x", "/build/cache": "/h/cache", "/build/cache/deep/x": "/h/deep/x", "/build/cached": "/h/c1/build/cached",
		"PATH=/usr/bin:/workspace": "PATH=/usr/bin:/h/c1/workspace", "/tmp/tmp": "/h/c1/tmp/tmp", "::/tmp": "::/h/c1/tmp", "/tmp /tmp": "/tmp /tmp",
	} {
		if got := c.translatePath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTranslatePathProperties(t *testing.T) {
	c := outside(worldPaths...)
	piece := rapid.SampledFrom([]string{"/workspace", "/build", "/tmp", "/build/cache", "/usr", "/", "a", "=", ":", ",", " ", "s", "é", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		got := c.translatePath(s)
		if !strings.Contains(s, "/workspace") && !strings.Contains(s, "/build") && !strings.Contains(s, "/tmp") && got != s {
			t.Fatalf("%q names no path of the world and became %q", s, got)
		}
		// What stands at a border is gone, and a second time changes nothing: no
		// stand-in begins with a path of the world.
		if again := c.translatePath(got); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
		// Undoing the replacements gives the input back.
		back := strings.NewReplacer("/h/deep", "/build/cache/deep", "/h/cache", "/build/cache", "/h/c1/", "/").Replace(got)
		if back != s {
			t.Fatalf("%q became %q, which stands for %q", s, got, back)
		}
	})
}

func FuzzTranslatePath(f *testing.F) {
	f.Add("A=/tmp:/workspace/x,/build")
	f.Fuzz(func(t *testing.T, s string) {
		if got := outside().translatePath(s); got != s {
			t.Errorf("an empty world changed %q to %q", s, got)
		}
		if c := outside(worldPaths...); len(c.translatePath(s)) < len(s)-len(s)/len("/build/cache")*len("/build/cache") {
			t.Errorf("%q lost more than paths", s)
		}
	})
}

func TestTranslateProcess(t *testing.T) {
	p := sandbox.Process{Args: []string{"x", "/tmp/a"}, Env: []string{"HOME=/workspace"}}
	got := outside(worldPaths...).translate(p)
	if got.Dir != "/h/c1/workspace" || got.Args[1] != "/h/c1/tmp/a" || got.Env[0] != "HOME=/h/c1/workspace" || p.Args[1] != "/tmp/a" {
		t.Errorf("%+v, and before %+v", got, p)
	}
	if inside := (&container{}).translate(p); inside.Dir != "/workspace" || inside.Args[1] != "/tmp/a" {
		t.Errorf("%+v", inside)
	}
}

func TestMapsRange(t *testing.T) {
	for _, tc := range []struct {
		uidMap   string
		from, to int64
		want     bool
	}{
		{"         0          0 4294967295\n", 0x70000000, 0x80000000, true},
		{"0 100000 65536\n", 0x70000000, 0x80000000, false},
		{"0 100000 65536\n", 0, 65536, true},
		{"0 100000 65536\n", 0, 65537, false},
		{"0 0 10\n10 10 10\n", 5, 15, false}, // two lines are not one range
		{"0 1000 1\n1 100000 65536\n", 1, 65537, true},
		{"0 1000 1\n1 100000 65536", 65000, 65537, true},
		{"", 0, 1, false}, {"x y z\n", 0, 1, false}, {"0 0\n", 0, 0, false}, {"5 0 10\n", 4, 6, false},
	} {
		if got := mapsRange([]byte(tc.uidMap), tc.from, tc.to); got != tc.want {
			t.Errorf("%q has [%d, %d): %v", tc.uidMap, tc.from, tc.to, got)
		}
	}
}

func TestRlimits(t *testing.T) {
	all := sandbox.Limits{OpenFiles: 20, FileSizeBytes: 30, MemoryBytes: 40, Processes: 50, CPUTime: 1500 * time.Millisecond}
	names := func(list []spawn.Limit) (out []string) {
		for _, l := range list {
			out = append(out, fmt.Sprintf("%s %d/%d", l.Name, l.Soft, l.Hard))
		}
		return out
	}
	base := []string{"core 1/1", "memlock 65536/65536", "msgqueue 0/0", "nice 0/0", "rtprio 0/0", "sigpending 1024/1024", fmt.Sprintf("stack %d/%d", 8<<20, unlimited)}
	for _, tc := range []struct {
		name   string
		walls  walls
		limits sandbox.Limits
		held   heldLimits
		want   []string
	}{
		{"nothing held", walls{}, all, heldLimits{}, []string{"nofile 20/20", "fsize 30/30", fmt.Sprintf("data %d/%[1]d", 40+dataSlack), "nproc 50/50", "cpu 3/4"}},
		{"all held", walls{}, all, heldLimits{memory: true, processes: true, cpu: true}, []string{"nofile 20/20", "fsize 30/30", "cpu 3/4"}},
		{"nothing asked for", walls{}, sandbox.Limits{}, heldLimits{}, nil},
		{"behind walls", walls{seccomp: true}, sandbox.Limits{OpenFiles: 20}, heldLimits{}, append(slices.Clone(base), "nofile 20/20")},
	} {
		if diff := cmp.Diff(tc.want, names((&container{walls: tc.walls}).rlimits(tc.limits, tc.held))); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// A limit that is set in an init is the one that was meant.
func TestRlimitIsSet(t *testing.T) {
	s, err := spawn.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var p spawn.Program
	p.SetLimit(unix.SYS_PRLIMIT64, spawn.Limit{Name: "nofile", Resource: unix.RLIMIT_NOFILE, Soft: 20, Hard: 21})
	out := p.File(int(w.Fd()))
	p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		p.Call("dup3", unix.SYS_DUP3, out, spawn.FD(1), spawn.Value(0))
		p.Call("execve", unix.SYS_EXECVE, p.String("/bin/sh"), p.Strings([]string{"sh", "-c", "ulimit -Sn; ulimit -Hn"}), p.Strings(nil))
	})
	if _, err := s.Do(&p); err != nil {
		t.Fatal(err)
	}
	w.Close()
	var soft, hard int
	if _, err := fmt.Fscan(r, &soft, &hard); err != nil || soft != 20 || hard != 21 {
		t.Errorf("limits %d and %d, %v", soft, hard, err)
	}
}

func TestSomeCores(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	if someCores(0) != nil || someCores(allowed.Count()) != nil || someCores(1<<20) != nil {
		t.Error("no limit has a mask")
	}
	for n := 1; n < min(allowed.Count(), 8); n++ {
		mask := someCores(n)
		count := 0
		for i := 0; i < len(mask); i += 8 {
			word := binary.NativeEndian.Uint64(mask[i:])
			count += bits.OnesCount64(word)
			if word&^uint64(allowed[i/8]) != 0 {
				t.Errorf("the mask has cores that we may not run on: %x", mask)
			}
		}
		if count != n {
			t.Errorf("%d cores, want %d", count, n)
		}
	}
	if runtime.NumCPU() == 1 {
		t.Skip("one core: there is nothing to choose from")
	}
}

// fakeProc is a directory that looks like a container's /proc.
func fakeProc(t *testing.T, statm map[string]string) *os.File {
	t.Helper()
	dir := t.TempDir()
	for name, content := range statm {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "statm"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "meminfo"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestResidentBytes(t *testing.T) {
	page := int64(os.Getpagesize())
	proc := fakeProc(t, map[string]string{
		"1": "900 900 0 0 0 0 0\n",                              // init
		"2": "100 10 5 1 0 20 0\n", "33": "100 32 5 1 0 20 0\n", // the program
		"44": "", "55": "7\n", "66": "a b c\n", // vanishing, odd
		"self": "1 1\n", "sys": "1 1\n",
	})
	if err := os.Mkdir(filepath.Join(proc.Name(), "77"), 0o755); err != nil { // it has just died
		t.Fatal(err)
	}
	for range 2 { // it reads from the beginning each time
		if total, processes := residentBytes(proc, inside(proc)); total != 42*page || processes != 3 {
			t.Errorf("%d bytes in %d processes, want %d", total, processes, 42*page)
		}
	}
	proc.Close()
	if total, processes := residentBytes(proc, inside(proc)); total != 0 || processes != 0 {
		t.Errorf("%d bytes in %d processes of a /proc that is gone", total, processes)
	}
}

func TestResidentBytesOfOurselves(t *testing.T) {
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	if total, processes := residentBytes(proc, inside(proc)); total < 1<<20 || processes < 1 {
		t.Errorf("%d bytes in %d processes", total, processes)
	}
}

func TestSamplerKillsOnce(t *testing.T) {
	page := int64(os.Getpagesize())
	proc := fakeProc(t, map[string]string{"2": "9 10 0\n", "3": "9 10 0\n"})
	for _, tc := range []struct {
		limit int64
		kills int
	}{{0, 0}, {20 * page, 0}, {20*page - 1, 1}} {
		kills := 0
		s := sampler{proc: proc, pids: func() ([]int, error) { return inside(proc), nil }, limit: tc.limit, kill: func() { kills++ }}
		for range 3 {
			s.sample()
		}
		var exit sandbox.Exit
		exit.Metrics.Sources = map[string]string{}
		s.fill(&exit)
		if kills != tc.kills || exit.MemoryKill != (tc.kills > 0) || *exit.Metrics.MemoryPeakBytes != 20*page || *exit.Metrics.ProcessesPeak != 2 || exit.Metrics.Sources["memory_peak_bytes"] != "runtime" {
			t.Errorf("limit %d: %d kills, %+v", tc.limit, kills, exit)
		}
	}
}

// TestBlindSampler: a program whose memory nobody can see has no limit, and ends. One that
// has none left to see goes on, and so does what was not seen for a moment.
func TestBlindSampler(t *testing.T) {
	for name, tc := range map[string]struct {
		limit int64
		gone  bool  // the /proc cannot be read
		more  error // there are more processes than those that it has
		blind int
		kills int
	}{
		"unreadable": {1 << 20, true, nil, maxBlind, 1}, "for a moment": {1 << 20, true, nil, maxBlind - 1, 0},
		"no limit": {0, true, nil, maxBlind, 0}, "nothing left": {1 << 20, false, nil, 3 * maxBlind, 0},
		"too many": {1 << 20, false, errors.New("more"), maxBlind, 1}, "too many for a moment": {1 << 20, false, errors.New("more"), maxBlind - 1, 0},
	} {
		proc, kills := fakeProc(t, nil), 0
		if tc.gone {
			proc.Close()
		}
		s := sampler{proc: proc, pids: func() ([]int, error) { return inside(proc), tc.more }, limit: tc.limit, kill: func() { kills++ }}
		for range tc.blind {
			s.sample()
		}
		if kills != tc.kills || s.killed || (s.err != nil) != (tc.kills > 0) {
			t.Errorf("%s: %d kills, for its limit %v, %v", name, kills, s.killed, s.err)
		}
	}
}

func TestSamplerKeepsABetterFigure(t *testing.T) {
	more, processes := int64(1<<40), int64(9)
	exit := sandbox.Exit{Metrics: sandbox.Metrics{MemoryPeakBytes: &more, ProcessesPeak: &processes, Sources: map[string]string{"memory_peak_bytes": "rusage"}}}
	(&sampler{peakBytes: 1, peakProcesses: 1}).fill(&exit)
	if *exit.Metrics.MemoryPeakBytes != 1<<40 || *exit.Metrics.ProcessesPeak != 9 || exit.Metrics.Sources["memory_peak_bytes"] != "rusage" || exit.MemoryKill {
		t.Errorf("%+v", exit)
	}
}

func TestSamplerStops(t *testing.T) {
	(*sampler)(nil).stop() // there was nothing to sample
	pr := &process{c: &container{proc: fakeProc(t, nil)}, group: &group{}}
	pr.newSampler(1, nil).stop()
}

func TestDescendants(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & sh -c 'sleep 1000 & wait' & echo; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		below, _ := descendants(cmd.Process.Pid)
		for _, pid := range below {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	var below []int
	for range 500 { // the inner shell may still be on its way
		var more error
		if below, more = descendants(cmd.Process.Pid); more != nil {
			t.Fatal(more)
		}
		if len(below) == 3 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%v below %d, want three", below, cmd.Process.Pid)
}

func TestLookAtHost(t *testing.T) {
	h := lookAtHost()
	if !slices.ContainsFunc(h.system, func(d systemDir) bool { return d.name == "usr" && d.link == "" }) {
		t.Errorf("%+v", h)
	}
	for _, d := range h.system {
		link, err := os.Readlink("/" + d.name)
		if d.link != link || d.link == "" && err == nil {
			t.Errorf("%+v, and the host has %q, %v", d, link, err)
		}
	}
	for _, m := range h.proc {
		info, err := os.Lstat("/proc/" + m.name)
		if err != nil || info.IsDir() != m.dir || !slices.Contains(rootfs.MaskedProc(), m.name) {
			t.Errorf("%+v: %v, %v", m, info, err)
		}
	}
}

// Live figures are read while the sampler samples.
func TestSamplerIsReadFromSeveralPlaces(t *testing.T) {
	pr := &process{c: &container{proc: fakeProc(t, map[string]string{"2": "9 10 0\n", "3": "9 10 0\n"})}, group: &group{}}
	s := pr.newSampler(0, nil)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 2000 {
				var m sandbox.Metrics
				if s.cpu(&m); m.CPUUser == nil {
					t.Error("no CPU time")
				}
			}
		})
	}
	readers.Wait()
	s.stop()
}

func TestCPUTimes(t *testing.T) {
	stat := "42 (a ) b) S 1 42 42 0 -1 4194304 1 2 3 4 150 25 50 5 20 0 1 0 9 9 9\n"
	user, system := cpuTimes([]byte(stat))
	if user != 2*time.Second || system != 300*time.Millisecond {
		t.Errorf("user %v, system %v", user, system)
	}
	for _, odd := range []string{"", "1 (x", "1 (x) S 1 2"} {
		if user, system := cpuTimes([]byte(odd)); user != 0 || system != 0 {
			t.Errorf("%q: %v, %v", odd, user, system)
		}
	}
}

func TestExiting(t *testing.T) {
	for stat, want := range map[string]bool{
		"42 (a ) b) S 1 42 42 0 -1 4194304 1 2\n": false, "42 (x) R 1 42 42 0 -1 4194308\n": true, // PF_EXITING is 4
		"": true, "1 (x": true, "1 (x) S 1 2 3 4 5": true, // gone
	} {
		if got := exiting([]byte(stat)); got != want {
			t.Errorf("%q: %v", stat, got)
		}
	}
}
