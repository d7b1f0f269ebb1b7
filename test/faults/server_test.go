package faults

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// server is a running sandbox-server, and how it looks when it is idle.
type server struct {
	*testenv.Server
	dir    string   // everything of its own is below it
	groups []string // the directories that hold its control groups
	name   string   // of its instance
	idle   map[string]int

	program  string
	settings []string
}

// start starts a server of a test's own, with settings beside the usual ones.
func start(t *testing.T, settings ...string) *server {
	t.Helper()
	return startProgram(t, binary, settings...)
}

// startProgram starts what becomes a server.
func startProgram(t *testing.T, program string, settings ...string) *server {
	t.Helper()
	s := &server{program: program, settings: settings}
	s.restart(t)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// restart starts the server, also in the place of one that has ended.
func (s *server) restart(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp(work, "server-") //nolint:usetesting // programs of another user must pass
	if err != nil {
		t.Fatal(err)
	}
	now, err := launch(s.program, dir, s.settings...)
	if err != nil {
		t.Fatal(err)
	}
	now.program, now.settings = s.program, s.settings
	*s = *now
}

// crashed tells whether the server has ended because its Go runtime could not do without
// a call, and starts another one.
func (s *server) crashed(t *testing.T) bool {
	t.Helper()
	if !strings.Contains(s.Logged(), "fatal error: runtime: netpollBreak") { // a write to an eventfd of its own
		return false
	}
	s.Kill()
	s.restart(t)
	learn(t, s)
	return true
}

func launch(program, dir string, settings ...string) (*server, error) {
	for _, sub := range []string{"home", "data", "tmp", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // as restricted containers below TMPDIR need
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err := os.Chmod(filepath.Join(dir, "tmp"), 0o777); err != nil {
		return nil, fmt.Errorf("open the temporary directory: %w", err)
	}
	up, err := testenv.Launch(program, nil, append([]string{
		"HOME=" + filepath.Join(dir, "home"), "SANDBOX_DATA_DIR=" + filepath.Join(dir, "data"),
		"TMPDIR=" + filepath.Join(dir, "tmp"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"SANDBOX_MAX_CONCURRENT=8",
	}, settings...)...)
	if err != nil {
		return nil, err
	}
	s := &server{Server: up, dir: dir}
	s.name, s.groups = instanceOf(up.Cmd.Process.Pid)
	return s, nil
}

// instanceOf reads what a process has noted about itself, for whoever tidies up.
func instanceOf(pid int) (name string, groups []string) {
	records, _ := filepath.Glob("/run/sandbox-run/i*")
	for _, path := range records {
		content, _ := os.ReadFile(path)
		var record struct {
			PID    int
			Name   string
			Groups []string
		}
		if json.Unmarshal(content, &record) == nil && record.PID == pid {
			return record.Name, record.Groups
		}
	}
	return "", nil
}

// spawner is the process that makes containers.
func (s *server) spawner() int {
	for _, p := range testenv.Below(s.Cmd.Process.Pid) {
		if p.Name == "sandbox-init" {
			return p.PID
		}
	}
	return 0
}

func comm(pid int) string {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(content))
}

// look counts what the server holds: descriptors by kind, its own and the spawner's;
// processes below it; control groups; mounts; files.
func (s *server) look() map[string]int {
	pid, seen := s.Cmd.Process.Pid, map[string]int{}
	for who, p := range map[string]int{"server": pid, "spawner": s.spawner()} {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p))
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				seen["descriptor of the "+who+": "+kind(target)]++
			}
		}
	}
	for _, p := range testenv.Below(pid) {
		seen["process: "+p.Name]++
	}
	for _, place := range s.groups {
		_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.Contains(d.Name(), s.name) {
				seen["control group: "+path]++
			}
			return nil
		})
	}
	if mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid)); err == nil {
		seen["mounts"] = strings.Count(string(mounts), "\n")
	}
	_ = filepath.WalkDir(filepath.Join(s.dir, "tmp"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			seen["file: "+path]++
		}
		return nil
	})
	return seen
}

// numbers are what differs between two descriptors of one kind. A database's files are
// opened as they are needed.
var numbers = regexp.MustCompile(`\[\d+\]|\d+`)

func kind(target string) string { return numbers.ReplaceAllString(target, "#") }

// settle remembers how the server looks now that nothing runs.
func (s *server) settle() {
	s.idle = s.look()
	testenv.Within(3*time.Second, func() bool {
		time.Sleep(100 * time.Millisecond)
		now := s.look()
		same := maps.Equal(now, s.idle)
		s.idle = now
		return same
	})
}

// leaks are what the server holds that it did not when it was idle. What is on its way
// out has a moment.
func (s *server) leaks() (found []string) {
	testenv.Within(3*time.Second, func() bool {
		found = nil
		now := s.look()
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if now[name] > s.idle[name] {
				found = append(found, fmt.Sprintf("%s: %d, before %d", name, now[name], s.idle[name]))
			}
		}
		return len(found) == 0
	})
	return found
}

// check fails when the next run does not work, or when something is left.
func (s *server) check(t *testing.T, next scenario) {
	t.Helper()
	a := s.execute(next.request)
	if why := next.wrong(a); why != "" || a.Status != api.StatusOK && next.status == api.StatusOK {
		t.Errorf("the run after it: %s\n%s", why, a)
	}
	if found := s.leaks(); len(found) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(found, "\n"))
		s.idle = s.look() // the next one is not to blame
	}
}
