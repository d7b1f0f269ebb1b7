package soak

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// keptGroups are those that were removed and are still counted. A page of a file keeps the group
// that first read it, for as long as any process maps it: what waits in ready containers maps
// thousands, whoever read them, so that with those the groups are counted when the server has ended.
// heldElsewhere of them may then be more than before, by processes that are not ours.
const (
	keptGroups    = "control groups that the kernel keeps"
	heldElsewhere = 8
)

// figures are what must not grow, and how much in 1,000 runs is no growth yet: what is
// counted does not waver, but allocators do, and in a soak of less than 10,000 runs the cache of the
// database fills up.
var figures = []struct {
	name  string
	bound float64
}{
	{"descriptors of the server and its helpers", 0},
	{"goroutines", 0},
	{"processes below the server", 0},
	{"zombies", 0},
	{"control groups of ours", 0},
	{keptGroups, 0},
	{"mounts, host", 0},
	{"mounts, server and helpers", 0},
	{"namespaces", 0},
	{"System V objects", 0},
	{"files", 0},
	{"heap, KiB", 64},
	{"memory of the server, MiB", 1},
	{"memory of the helpers, MiB", 0.25},
}

// sample is what was read of each figure. NaN is what cannot be read here.
type sample map[string]float64

// look reads the figures once.
func (s *instance) look() sample {
	below := testenv.Below(s.Cmd.Process.Pid)
	helpers, zombies := 0.0, 0
	for _, p := range below {
		helpers += resident(p.PID)
		if p.Zombie {
			zombies++
		}
	}
	all := append(below, testenv.Process{PID: s.Cmd.Process.Pid, Name: "sandbox-server"})
	descriptors, mounts := 0, 0
	s.open = map[string]int{}
	for _, p := range all {
		dir := fmt.Sprintf("/proc/%d/fd/", p.PID)
		open, _ := os.ReadDir(dir)
		for _, fd := range open {
			to, _ := os.Readlink(dir + fd.Name())
			if strings.HasPrefix(to, "net:") { // a ready container has one if its network was another's before: see namespaces
				continue
			}
			descriptors++
			s.open[p.Name+" has "+numbers.ReplaceAllString(to, "N")]++
		}
		mounts += testenv.Lines(fmt.Sprintf("/proc/%d/mountinfo", p.PID))
	}
	machine := testenv.Counts()
	return sample{
		"descriptors of the server and its helpers": float64(descriptors),
		"goroutines":                 s.Metric("go_goroutines"),
		"processes below the server": float64(len(below)),
		"zombies":                    float64(zombies),
		"control groups of ours":     float64(testenv.Groups()),
		keptGroups:                   kept(),
		"mounts, host":               float64(machine["mounts"]),
		"mounts, server and helpers": float64(mounts),
		"namespaces":                 float64(machine["namespaces"]),
		"System V objects":           float64(testenv.Lines("/proc/sysvipc/shm") + testenv.Lines("/proc/sysvipc/sem") + testenv.Lines("/proc/sysvipc/msg")),
		"files":                      float64(testenv.Entries(s.dir) + testenv.Entries(filepath.Join(os.TempDir(), "sandbox-run-i*")) + testenv.Entries("/run/sandbox-run")),
		"heap, KiB":                  s.Metric("go_memstats_heap_alloc_bytes") / 1024,
		"memory of the server, MiB":  resident(s.Cmd.Process.Pid),
		"memory of the helpers, MiB": helpers,
	}
}

// rest waits until nothing runs and nothing changes any more, and reads the figures.
func (s *instance) rest(t *testing.T) sample {
	t.Helper()
	var last *api.Health
	idle := func() bool {
		h, err := s.client.Health(t.Context())
		last = h
		if err != nil || h.Load > 0 || h.Queued > 0 {
			return false
		}
		maps.DeleteFunc(h.Warm, func(language string, n int) bool { return n <= s.ready[language] })
		return len(h.Warm) == 0 // what is made behind the last runs is gone a little later
	}
	if !testenv.Within(10*time.Minute, idle) {
		t.Fatalf("the server does not come to rest: %+v, and at the start %v were ready", last, s.ready)
	}
	s.client.Close()
	if long() {
		dropCaches(t)
	}
	before := s.look()
	calm, strangers := 0, 0
	if *warm != "off" {
		time.Sleep(11 * time.Second) // network namespaces wait ten for their next containers
	}
	testenv.Within(15*time.Second, func() bool {
		time.Sleep(50 * time.Millisecond)
		now := s.look()
		calm++
		if strangers = s.strangers(); strangers > 0 {
			calm = 0
		}
		for _, f := range figures {
			if f.bound == 0 && now[f.name] != before[f.name] && !math.IsNaN(now[f.name]) {
				calm = 0
			}
			if f.bound > 0 { // what is garbage goes at some moment
				now[f.name] = min(now[f.name], before[f.name])
			}
		}
		before = now
		return calm >= 4
	})
	if strangers > 0 {
		t.Logf("somebody else runs %d sandboxes on this machine: what is counted of the machine says little", strangers)
	}
	return before
}

// dropCaches has the kernel forget the files that it has read. On version 1 a control group
// stays, without a name, as long as a page that was first read in it does: as many as there
// are files that programs read, which a long soak is not to take for a leak.
func dropCaches(t *testing.T) {
	t.Helper()
	syscall.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("1"), 0); err != nil {
		t.Logf("the page cache stays, and control groups with it: %v", err)
	}
}

// strangers counts sandboxes that are not this server's.
func (s *instance) strangers() int {
	inits := testenv.Processes("sandbox-init")
	for _, p := range testenv.Below(s.Cmd.Process.Pid) {
		inits = slices.DeleteFunc(inits, func(dir string) bool { return dir == fmt.Sprint("/proc/", p.PID) })
	}
	return len(inits)
}

// numbers are what differs between descriptors of a kind: inodes, and names of control groups.
var numbers = regexp.MustCompile(`\b(i[0-9a-f]+-)?[0-9a-f]*\d[0-9a-f]*\b`)

// opened tells which kinds of descriptors have become more, and how many.
func opened(before, now map[string]int) (more []string) {
	for _, kind := range slices.Sorted(maps.Keys(now)) {
		if n := now[kind] - before[kind]; n > 0 {
			more = append(more, fmt.Sprintf("%d: %s", n, kind))
		}
	}
	return more
}

var residentLine = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// resident is the memory of a process that is no file's, in MiB.
func resident(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	m := residentLine.FindSubmatch(text)
	if m == nil {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(m[1]), 64)
	return kib / 1024
}

// kept counts the control groups of all hierarchies, those included that were removed
// and that something, such as a page of a file, keeps in memory.
func kept() float64 {
	text, err := os.ReadFile("/proc/cgroups")
	if err != nil {
		return math.NaN()
	}
	n := 0.0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[0] != "#subsys_name" {
			count, _ := strconv.ParseFloat(fields[2], 64)
			n += count
		}
	}
	return n
}
