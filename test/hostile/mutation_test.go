package hostile

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var mutations = flag.Bool("mutations", false, "leave out one guard after the other, and see which rows notice; for root")

// mutation is a guard, by the word that rows name it with, and what leaves it out; see
// package fault.
type mutation struct{ guard, off, level string }

func guards() []mutation {
	return []mutation{
		{"seccomp", "step:install the seccomp filter", "full"},
		{"seccomp", "step:install the seccomp filter", "restricted"},
		{"no_new_privs", "step:prctl PR_SET_NO_NEW_PRIVS", "full"},
		{"caps", "step:capset;step:prctl PR_CAPBSET_DROP", "full"},
		{"userns", "step:create the inner user namespace", "full"},
		{"userns", "step:write max_user_namespaces;step:install the seccomp filter", "full"},
		{"netns", "namespace:net", "full"},
		{"ipcns", "namespace:ipc", "full"},
		{"utsns", "namespace:uts", "full"},
		{"cgroupns", "step:unshare the cgroup namespace", "full"},
		{"mountns", "step:unmount the old root", "full"},
		{"readonly", "step:mount / read-only", "full"},
		{"masks", "step:mount /proc/*", "full"},
		{"landlock", "step:landlock_restrict_self", "restricted"},
		{"overlay", "inodes:toolchains", "full"},
		{"devices", "inodes:devices", "full"},
		{"pids", "cgroup:pids.max;step:setrlimit nproc", "full"},
		{"memory", "cgroup:memory.*", "full"},
		{"cpu", "cgroup:cpu.*", "full"},
		{"disk", "limit:disk", "full"},
		{"inodes", "limit:disk", "full"},
		{"rlimit", "step:setrlimit *", "full"},
		{"descriptors", "step:close_range", "full"},
		{"killtree", "step:kill*;cgroup:cgroup.kill", "full"},
		{"uid", "step:setresuid;step:setresgid", "full"},
		{"uid", "step:setgroups", "full"},
	}
}

// TestMutations is the test of the tests: without its guard a row must fail. It runs in
// a world of its own, since without its guard a row is also an attack.
func TestMutations(t *testing.T) {
	if !*mutations {
		t.Skip("make mutations leaves out the guards")
	}
	all, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("/var/tmp", filepath.Base(work)) // /tmp is the world's own
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"sandbox-run", "sandbox-server"} {
		build := exec.Command("go", "build", "-tags", "fault", "-o", filepath.Join(dir, name), "../../cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	self := filepath.Join(dir, "hostile.test")
	if content, err := os.ReadFile("/proc/self/exe"); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(self, content, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range guards() {
		if *only != "" && *only != m.guard {
			continue
		}
		t.Run(m.guard+"/"+m.off, func(t *testing.T) {
			seen, tried, red := m.look(dir), 0, []string{}
			for _, r := range all {
				if !slices.Contains(r.guards, m.guard) || !r.fits(m.level) {
					continue
				}
				tried++
				if !world(t, 2*time.Minute, append(m.environ(dir), "FAULT_OFF=posture:*;"+m.off), self, "-test.run", "TestRows", "-row", r.name, "-shared", "-combination", "local "+m.level+" root") {
					red = append(red, r.name)
				}
			}
			if !seen && len(red) == 0 {
				t.Errorf("without %s (%s) nothing fails, of %d rows and the posture", m.guard, m.off, tried)
			}
			lines = append(lines, fmt.Sprintf("| %s | `%s` | %s | %v | %d of %d: %s |", m.guard, m.off, m.level, seen, len(red), tried, strings.Join(red, ", ")))
		})
	}
	text := "| guard | left out | level | posture notices | rows that fail |\n|---|---|---|---|---|\n" + strings.Join(lines, "\n") + "\n"
	t.Log("\n" + text)
	if *table != "" {
		if err := os.WriteFile(*table, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// fits tells whether a row has a meaning at a level, for root.
func (r row) fits(level string) bool {
	only := strings.Fields(r.field("only", []string{"local", level, "root"}))
	return (len(only) == 0 || slices.Contains(only, level) || slices.Contains(only, "root") || slices.Contains(only, "local")) &&
		r.field("skip", []string{"local", level, "root", r.cheapest()}) == ""
}

func (m mutation) environ(dir string) []string {
	return []string{"SANDBOX_TEST_SERVER=" + filepath.Join(dir, "sandbox-server"), "SANDBOX_ISOLATION=" + m.level}
}

// look tells whether the posture test notices.
func (m mutation) look(dir string) bool {
	return !world(nil, time.Minute, append(m.environ(dir), "FAULT_OFF="+m.off), filepath.Join(dir, "sandbox-run"), "doctor", "--posture")
}

// world runs a command in a world of its own, and tells whether it succeeded.
func world(t *testing.T, limit time.Duration, environ []string, command ...string) bool {
	cmd := exec.Command("timeout", append([]string{"-s", "KILL", fmt.Sprint(limit.Seconds()), "./world.sh"}, command...)...)
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if t != nil && err != nil {
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "_test.go:") {
				t.Logf("%.300s", strings.TrimSpace(line))
				break
			}
		}
	}
	return err == nil
}
