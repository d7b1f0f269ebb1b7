package soak

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// figures are what must not grow, and how much in 1,000 runs is no growth yet: what is
// counted does not waver, but allocators do, and the cache of the database fills up with the
// lines of the first 8,000 runs.
var figures = []struct {
	name  string
	bound float64
}{
	{"descriptors of the server and its helpers", 0},
	{"goroutines", 0},
	{"processes below the server", 0},
	{"zombies", 0},
	{"control groups of ours", 0},
	{"control groups that the kernel keeps", 0},
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
	below := processes(s.Cmd.Process.Pid)
	helpers, zombies := 0.0, 0
	for _, p := range below {
		helpers += resident(p.pid)
		if p.zombie {
			zombies++
		}
	}
	all := append(below, process{pid: s.Cmd.Process.Pid})
	descriptors, mounts := 0, 0
	for _, p := range all {
		descriptors += len(glob(fmt.Sprintf("/proc/%d/fd/*", p.pid)))
		mounts += lines(fmt.Sprintf("/proc/%d/mountinfo", p.pid))
	}
	machine := testenv.Counts()
	gauges := s.gauges()
	return sample{
		"descriptors of the server and its helpers": float64(descriptors),
		"goroutines":                           gauges["go_goroutines"],
		"processes below the server":           float64(len(below)),
		"zombies":                              float64(zombies),
		"control groups of ours":               float64(groups()),
		"control groups that the kernel keeps": kept(),
		"mounts, host":                         float64(machine["mounts"]),
		"mounts, server and helpers":           float64(mounts),
		"namespaces":                           float64(machine["namespaces"]),
		"System V objects":                     float64(lines("/proc/sysvipc/shm") + lines("/proc/sysvipc/sem") + lines("/proc/sysvipc/msg")),
		"files":                                float64(entries(s.dir) + entries(glob("/tmp/sandbox-run-i*")...) + entries("/run/sandbox-run")),
		"heap, KiB":                            gauges["go_memstats_heap_alloc_bytes"] / 1024,
		"memory of the server, MiB":            resident(s.Cmd.Process.Pid),
		"memory of the helpers, MiB":           helpers,
	}
}

// rest waits until nothing runs and nothing changes any more, and reads the figures.
func (s *instance) rest(t *testing.T) sample {
	t.Helper()
	idle := func() bool {
		h, err := s.client.Health(t.Context())
		return err == nil && h.Load == 0 && h.Queued == 0
	}
	if !testenv.Within(2*time.Minute, idle) {
		t.Fatal("the server does not come to rest")
	}
	s.client.Close()
	last := s.look()
	calm, strangers := 0, 0
	testenv.Within(15*time.Second, func() bool {
		time.Sleep(50 * time.Millisecond)
		now := s.look()
		calm++
		if strangers = s.strangers(); strangers > 0 {
			calm = 0
		}
		for _, f := range figures {
			if f.bound == 0 && now[f.name] != last[f.name] && !math.IsNaN(now[f.name]) {
				calm = 0
			}
			if f.bound > 0 { // what is garbage goes at some moment
				now[f.name] = min(now[f.name], last[f.name])
			}
		}
		last = now
		return calm >= 4
	})
	if strangers > 0 {
		t.Logf("somebody else runs %d sandboxes on this machine: what is counted of the machine says little", strangers)
	}
	return last
}

// strangers counts sandboxes that are not this server's.
func (s *instance) strangers() int {
	inits := testenv.Processes("sandbox-init")
	for _, p := range processes(s.Cmd.Process.Pid) {
		inits = slices.DeleteFunc(inits, func(dir string) bool { return dir == fmt.Sprint("/proc/", p.pid) })
	}
	return len(inits)
}

var gauge = regexp.MustCompile(`^(go_goroutines|go_memstats_heap_alloc_bytes) ([0-9.e+]+)$`)

// mishaps are the runs that the server counts as its own fault.
var mishaps = regexp.MustCompile(`^sandbox_runs_total\{.*status="sandbox_error"\} ([0-9.e+]+)$`)

// gauges reads what only the server knows.
func (s *instance) gauges() map[string]float64 {
	found := map[string]float64{"go_goroutines": math.NaN(), "go_memstats_heap_alloc_bytes": math.NaN()}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/metrics", nil)
	if err != nil {
		return found
	}
	req.Close = true // a connection that is kept has goroutines
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return found
	}
	defer resp.Body.Close()
	for text := bufio.NewScanner(resp.Body); text.Scan(); {
		if m := gauge.FindStringSubmatch(text.Text()); m != nil {
			found[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		if m := mishaps.FindStringSubmatch(text.Text()); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64)
			found["sandbox_error"] += n
		}
	}
	return found
}

type process struct {
	pid    int
	zombie bool
}

// processes are those below one.
func processes(pid int) (found []process) {
	for _, task := range glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) {
		text, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			stat, _ := os.ReadFile("/proc/" + word + "/stat")
			_, state, _ := strings.Cut(string(stat), ") ")
			found = append(append(found, process{child, strings.HasPrefix(state, "Z")}), processes(child)...)
		}
	}
	return found
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

// groups counts the control groups of ours in every hierarchy.
func groups() (n int) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "/sandbox-run") {
			n++
		}
		return nil
	})
	return n
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

// entries counts the files and directories below some.
func entries(dirs ...string) (n int) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error {
			if err == nil {
				n++
			}
			return nil
		})
	}
	return n
}

func lines(name string) int {
	text, _ := os.ReadFile(name)
	return strings.Count(string(text), "\n")
}

func glob(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	return found
}
