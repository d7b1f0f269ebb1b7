package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// foreign is what was left on this machine before the tests began: by a suite that was
// killed, say, which only who ran it can remove.
var foreign []string

// leftovers lists what of ours is on this machine: processes, control groups,
// directories, instance numbers, mounts. Nothing else may be running sandboxes.
func leftovers() (found []string) {
	for _, dir := range testenv.Processes("sandbox-init") {
		found = append(found, "process "+dir)
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // the group has just gone
		}
		inside := filepath.Base(filepath.Dir(path)) == "sandbox-run"
		if inside || d.Name() == "sandbox-run" {
			found = append(found, "control group "+path)
		}
		if inside {
			return fs.SkipDir
		}
		return nil
	})
	for _, pattern := range []string{filepath.Join(os.TempDir(), "sandbox-run-i*"), "/run/sandbox-run/*", filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "sandbox-run/*")} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			found = append(found, "file "+p)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(string(mounts), "lowerdir=/usr:.empty") {
		found = append(found, "a mount of ours in the host's namespace")
	}
	return slices.DeleteFunc(found, func(what string) bool { return slices.Contains(foreign, what) })
}

// noLeftovers waits a moment for what is still going, and fails when something
// stays.
func noLeftovers(t *testing.T) {
	t.Helper()
	var found []string
	gone := func() bool { found = leftovers(); return len(found) == 0 }
	if !testenv.Within(2*time.Second, gone) {
		t.Errorf("left behind: %s", strings.Join(slices.Compact(found), "; "))
	}
}

// mix is a thousand runs' worth of variety: ends, limits, leftovers of their own.
var mix = [][]string{
	{"--lang", "exec", "--", "/bin/true"},
	{"--lang", "bash", "--code", "setsid sleep 1000 & echo x > f; exit 3"},
	{"--lang", "bash", "--code", "trap '' TERM; sleep 1000", "--timeout", "50ms"},
	{"--lang", "bash", "--code", "while :; do :; done", "--cpu-time", "50ms"},
	{"--lang", "bash", "--code", "head -c 100m /dev/zero | tail", "--memory", "20m"},
	{"--lang", "bash", "--code", "for i in $(seq 50); do sleep 1000 & done", "--pids", "20"},
	{"--lang", "python", "--code", "print(1)"},
	{"--lang", "python", "--code", "import os\nfor i in range(200): os.makedirs(f'{i}/a/b'); open(f'{i}/a/b/c','w').write('x')"},
	{"--lang", "bash", "--code", "mkfifo p; ln -s / l; cat /dev/zero | head -c 5m", "--isolation", "restricted"},
	{"--lang", "lua", "--code", "print(1)", "--network", "localhost"},
}

var leakRuns = flag.Int("leak-runs", 60, "how many runs must leave nothing behind; make soak has a thousand")

// TestNothingStaysBehind runs many programs, eight at a time, some of them interrupted,
// some with sandbox-run itself killed.
func TestNothingStaysBehind(t *testing.T) {
	sandboxRun(t, "gc")
	noLeftovers(t)
	before := testenv.Counts()
	work := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range work {
				disturbedRun(t, i)
			}
		})
	}
	for i := range *leakRuns {
		work <- i
	}
	close(work)
	workers.Wait()
	if o := sandboxRun(t, "gc"); o.code != 0 {
		t.Errorf("gc exits with %d: %s", o.code, o.stderr)
	}
	noLeftovers(t)
	// Namespaces go when the last process of theirs is reaped, mounts with them.
	var after map[string]int
	asBefore := func() bool { after = testenv.Counts(); return maps.Equal(before, after) }
	if testenv.Within(2*time.Second, asBefore) {
		return
	}
	for what, n := range after {
		if n > before[what] {
			t.Errorf("%d %s, %d before", n, what, before[what])
		}
	}
}

// disturbedRun runs one of the mix; every fifth is interrupted at some moment,
// every tenth killed.
func disturbedRun(t *testing.T, i int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{"--output", "json"}, mix[i%len(mix)]...)
	cmd := invocation{user: user{self: true}, args: args}.command(ctx)
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	signal, disturbed := syscall.SIGTERM, false
	switch rand.IntN(10) {
	case 0:
		signal, disturbed = syscall.SIGKILL, true
	case 1, 2:
		disturbed = true
	}
	if disturbed {
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Signal(signal)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	if code := cmd.ProcessState.ExitCode(); !disturbed && code == 125 {
		t.Errorf("sandbox-run %q: sandbox_error", args)
	}
}

// A signal ends a run at any moment and leaves nothing behind; a second one changes nothing.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		twice  bool
		code   int
	}{{syscall.SIGINT, false, 130}, {syscall.SIGTERM, false, 143}, {syscall.SIGINT, true, 130}} {
		t.Run(fmt.Sprintf("%v, twice: %v", c.signal, c.twice), func(t *testing.T) {
			const up = -1
			waits := []int{0, 2, 5, 8, 12, 20, 40, 80, up} // milliseconds, or until the program runs
			if c.twice {
				waits = append(waits, 6, 7, 9, 10, 11, 13, 14) // when what is opened ahead is closed for nothing
			}
			for _, wait := range waits {
				cmd := invocation{user: user{self: true}, args: []string{"--lang", "bash", "--code", "trap '' TERM; setsid sleep 1000 & echo up; sleep 1000"}}.command(t.Context())
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				said := make([]byte, 3)
				if wait == up {
					_, _ = io.ReadFull(out, said) // what it did not say, the exit code tells
				}
				time.Sleep(time.Duration(max(wait, 0)) * time.Millisecond)
				_ = cmd.Process.Signal(c.signal)
				if c.twice {
					time.Sleep(3 * time.Millisecond) // two that wait are one
					_ = cmd.Process.Signal(c.signal)
				}
				rest, _ := io.ReadAll(out)
				_ = cmd.Wait()
				// Before main is reached, which a busy machine can delay, and after its end
				// the signal's own action ends the process: a shell shows the same code.
				status := cmd.ProcessState.Sys().(syscall.WaitStatus)
				own := status.Signaled() && status.Signal() == c.signal && (c.twice || wait != up && len(rest) == 0)
				if code := cmd.ProcessState.ExitCode(); code != c.code && !own {
					t.Errorf("after %d ms: %v, want exit code %d", wait, cmd.ProcessState, c.code)
				}
				if noLeftovers(t); t.Failed() {
					sandboxRun(t, "gc")
					t.Fatalf("after %d ms", wait)
				}
			}
		})
	}
}

// running lists the processes of the machine whose command line has this in it.
func running(part string) (found []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), part) {
			found = append(found, filepath.Dir(name))
		}
	}
	return found
}

// TestKilledParent kills sandbox-run itself: the program must not outlive it, and
// what it left on disk is reclaimed by the next start.
func TestKilledParent(t *testing.T) {
	for _, level := range []string{"full", "restricted", "none"} {
		t.Run(level, func(t *testing.T) {
			cmd := invocation{user: user{self: true}, args: []string{"--isolation", level, "--trusted", "--lang", "bash",
				"--code", "trap '' TERM HUP; setsid sleep 31536 & (setsid sleep 31536 &) & echo up; sleep 31536"}}.command(t.Context())
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			// The shell may say that it is up before its children have become sleep.
			if !testenv.Within(2*time.Second, func() bool { return len(running("sleep\x0031536")) > 0 }) {
				t.Fatal("the program's processes cannot be seen, so their end could not be either")
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			testenv.Within(2*time.Second, func() bool { return len(running("sleep\x0031536")) == 0 })
			if left := running("sleep\x0031536"); len(left) > 0 {
				t.Errorf("still running: %v", left)
			}
			if o := sandboxRun(t, "--lang", "exec", "--", "/bin/true"); o.code != 0 {
				t.Errorf("the next run exits with %d: %s", o.code, o.stderr)
			}
			noLeftovers(t)
		})
	}
}
