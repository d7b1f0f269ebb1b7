package faults

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// What follows are hosts on which something is short or missing. A run ends well there,
// or says what was short, and once there is enough again the next one works.

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make the host that it describes")
	}
}

// hello is a run that takes little of everything.
var hello = scenario{name: "hello", request: api.Request{Language: "bash", Code: "echo hello"}, status: api.StatusOK, stdout: "hello\n"}

// honest fails unless a run ended as it should, or says why it could not, and tells
// whether it did.
func (s *server) honest(t *testing.T, sc scenario) (ended bool) {
	t.Helper()
	return s.told(t, sc) == ""
}

// told is what a run says that could not be, or nothing.
func (s *server) told(t *testing.T, sc scenario) string {
	t.Helper()
	a := s.execute(sc.request)
	if why := sc.wrong(a); why != "" {
		t.Errorf("%s: %s\n%s", sc.name, why, a)
	}
	if a.code == http.StatusOK {
		return ""
	}
	t.Logf("%s: %s", sc.name, a)
	return a.String()
}

// shortage counts the runs that ended and those that failed for want of something.
type shortage struct {
	of           string // as the kernel says it
	ended, short int
}

func (n *shortage) add(told string) {
	switch {
	case told == "":
		n.ended++
	case strings.Contains(told, n.of):
		n.short++
	}
}

// felt fails unless there were both: else nothing was short, or nothing ran anyway.
func (n *shortage) felt(t *testing.T) {
	t.Helper()
	if n.ended == 0 || n.short == 0 {
		t.Errorf("%d runs ended and %d failed with %q; want some of both", n.ended, n.short, n.of)
	}
}

// works fails unless the server runs programs and holds nothing of those before. What is on its
// way out has a moment first: it still has of what is short.
func (s *server) works(t *testing.T) {
	t.Helper()
	s.leaks()
	if !s.honest(t, hello) {
		t.Error("there is enough of everything again, and nothing runs")
	}
	if found := s.leaks(); len(found) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(found, "\n"))
	}
}

// around starts a server in a shell that says before it what is to be short.
func around(t *testing.T, script string, settings ...string) *server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nset -e\n"+script+"\nexec "+binary+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return startProgram(t, path, settings...)
}

// smallDisk makes a file system for everything that a server keeps.
func smallDisk(t *testing.T, options string) (dir string, remount func(options string)) {
	t.Helper()
	dir, err := os.MkdirTemp(work, "disk-") //nolint:usetesting // programs of another user must pass
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options+",mode=755"); err != nil {
		t.Skipf("needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir, func(options string) {
		flags := uintptr(syscall.MS_REMOUNT)
		if options == "ro" {
			flags, options = flags|syscall.MS_RDONLY, ""
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
			t.Fatal(err)
		}
	}
}

const noSpace = "no space left on device"

// fill leaves neither room nor files of a file system.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	filler := filepath.Join(dir, "filler")
	if err := os.Mkdir(filler, 0o700); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	err := error(nil)
	for i := 0; err == nil; i++ { // until one can be neither made nor written
		err = os.WriteFile(filepath.Join(filler, fmt.Sprint(i)), make([]byte, 64<<10), 0o600)
	}
	return func() {
		if err := os.RemoveAll(filler); err != nil {
			t.Error(err)
		}
	}
}

// typed is a run for which a server keeps files at every level, once.
var typed = scenario{name: "typed", request: api.Request{Language: "typescript", Code: "console.log('typed')"}, status: api.StatusOK, stdout: "typed\n", needs: "node"}

// TestFullDisk has a server keep everything on a file system of 1 MiB, or of few files.
func TestFullDisk(t *testing.T) {
	needRoot(t)
	for _, level := range []string{"full", "restricted"} {
		for _, short := range []string{"size=1m", "nr_inodes=24"} {
			t.Run(level+" "+short, func(t *testing.T) {
				_, missing := exec.LookPath(typed.needs)
				if missing != nil && level == "full" && short != "size=1m" {
					t.Skip("needs node: else nothing makes a file there but a server that starts")
				}
				dir, remount := smallDisk(t, short)
				s, err := launch(binary, dir, "SANDBOX_ISOLATION="+level, reachable)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Stop() })
				s.settle()
				n := &shortage{of: noSpace}
				for i := 0; i < 150 && n.short == 0; i++ {
					n.add(s.told(t, hello))
				}
				for _, sc := range scenarios[1:3] {
					n.add(s.told(t, sc))
				}
				empty := fill(t, dir)
				n.add(s.told(t, hello))
				n.add(s.told(t, scenarios[1]))
				if missing == nil {
					n.add(s.told(t, typed))
				}
				empty()
				remount("size=64m,nr_inodes=10000")
				n.felt(t)
				s.works(t)
			})
		}
	}
}

// TestReadOnlyDisk has what a server keeps become read-only while it serves.
func TestReadOnlyDisk(t *testing.T) {
	needRoot(t)
	for _, level := range []string{"full", "restricted"} {
		t.Run(level, func(t *testing.T) {
			dir, _ := smallDisk(t, "size=64m")
			s, err := launch(binary, dir, "SANDBOX_ISOLATION="+level, reachable)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Stop() })
			s.honest(t, hello)
			s.settle()
			// A file system with open files does not become read-only; a mount does.
			tmp := filepath.Join(dir, "tmp")
			if err := syscall.Mount("tmpfs", tmp, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			s.honest(t, hello)
			s.honest(t, scenarios[1])
			if err := syscall.Unmount(tmp, syscall.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
			s.works(t)
		})
	}
}

// TestFewDescriptors has a server of 64 descriptors run more at once than it has them for.
func TestFewDescriptors(t *testing.T) {
	for _, level := range []string{"full", "restricted"} {
		t.Run(level, func(t *testing.T) {
			s := around(t, "ulimit -n 64", "SANDBOX_ISOLATION="+level, "SANDBOX_MAX_CONCURRENT=32")
			n := &shortage{of: "too many open files"}
			n.add(s.told(t, hello))
			s.settle()
			for _, told := range crowd(t, s, 24) {
				n.add(told)
			}
			n.felt(t)
			s.works(t)
		})
	}
}

// crowd runs several programs at once, three times over, and gives what each run says that could
// not be. A connection that is not taken in time is no answer, but it is the client that waits then.
func crowd(t *testing.T, s *server, clients int) (told []string) {
	t.Helper()
	var mu sync.Mutex
	answers := map[string]int{}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range 3 {
				a := s.execute(hello.request)
				why := hello.wrong(a)
				mu.Lock()
				said := ""
				if a.code != http.StatusOK {
					said = a.String()
				}
				told = append(told, said)
				if why != "" {
					t.Errorf("%s\n%s", why, a)
				} else if a.code != http.StatusOK && (a.Retryable == nil || !*a.Retryable) {
					t.Errorf("may not be tried again: %s", a)
				}
				answers[kind(fmt.Sprint(a.code, " ", a.problem.Detail))]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for what, n := range answers {
		t.Logf("%d × %s", n, what)
	}
	return told
}

// TestSmallMemory has the server and all that it runs share less memory than one program
// may use. The kernel then kills, in the program's group and not for its limit.
func TestSmallMemory(t *testing.T) {
	group, enter := ownGroup(t, "memory")
	limit := "memory.limit_in_bytes"
	if unified() {
		limit = "memory.max"
	}
	s := around(t, enter)
	s.honest(t, hello)
	s.settle()
	set(t, group, limit+"=192m") // after it has looked how much there is
	pid := s.Cmd.Process.Pid
	// Its own limit comes first: that is the program's affair.
	for _, sc := range scenarios {
		if sc.name == "memory" {
			s.honest(t, sc)
		}
	}
	// The group's comes first: that is ours, and that run's alone.
	nextDoor := make(chan bool)
	go func() {
		nextDoor <- s.honest(t, scenario{name: "next door", request: api.Request{Language: "bash", Code: "sleep 3; echo hello"}, status: api.StatusOK, stdout: "hello\n"})
	}()
	greedy := scenario{name: "greedy", request: api.Request{Language: "python", Code: "x = bytearray(400 << 20)\nprint(len(x))", Limits: &api.RequestLimits{MemoryMB: 480}}, status: api.StatusSandboxError}
	if s.honest(t, greedy) {
		t.Error("a program used more memory than there is")
	}
	if !<-nextDoor {
		t.Error("the run next door has failed as well")
	}
	if now := comm(pid); now != "sandbox-server" {
		t.Errorf("the server is %q", now)
	}
	s.works(t)
}

// TestGroupIsRemoved has somebody remove the control group in which the server makes those of runs,
// while there is none.
func TestGroupIsRemoved(t *testing.T) {
	for _, controller := range []string{"memory", "pids"} {
		t.Run(controller, func(t *testing.T) {
			group, enter := ownGroup(t, controller)
			s := around(t, enter)
			s.honest(t, hello)
			s.settle()
			ours := filepath.Join(group, "sandbox-run")
			var err error
			if !testenv.Within(10*time.Second, func() bool { err = os.Remove(ours); return err == nil }) {
				t.Fatal(err)
			}
			s.honest(t, hello)
			s.works(t)
		})
	}
}

// TestFullProcessTable has no process left to be made. What the server itself needs, a
// thread of the Go runtime, it has made before: without one the runtime ends it.
func TestFullProcessTable(t *testing.T) {
	for _, level := range []string{"full", "restricted"} {
		t.Run(level, func(t *testing.T) {
			group, enter := ownGroup(t, "pids")
			s := around(t, enter, "SANDBOX_ISOLATION="+level)
			crowd(t, s, 8)
			s.settle()
			failed := 0
			for spare := range 4 { // for an init, a program, and what that starts
				content, _ := os.ReadFile(filepath.Join(group, "pids.current"))
				now, _ := strconv.Atoi(strings.TrimSpace(string(content)))
				set(t, group, fmt.Sprintf("pids.max=%d", now+spare))
				sc := scenario{name: "hello", request: hello.request, status: api.StatusOK, stdout: hello.stdout}
				if !s.honest(t, sc) {
					failed++
				}
			}
			if failed == 0 {
				t.Error("everything ran without a process to run in")
			}
			set(t, group, "pids.max=max")
			s.works(t)
		})
	}
}

// TestToolchainVanishes removes a toolchain that the server has found.
func TestToolchainVanishes(t *testing.T) {
	bash, err := os.ReadFile("/bin/bash")
	if err != nil {
		t.Skip("needs bash")
	}
	for _, level := range []string{"full", "restricted"} {
		t.Run(level, func(t *testing.T) {
			dir, err := os.MkdirTemp("/usr/local", "faults-") //nolint:usetesting // containers must have it
			if err != nil {
				t.Skipf("needs to install a toolchain: %v", err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			tool := filepath.Join(dir, "bash")
			put := func() {
				if err := os.WriteFile(tool, bash, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			put()
			s := start(t, "SANDBOX_ISOLATION="+level, "PATH="+dir)
			if !s.honest(t, hello) {
				t.Fatal("it does not run the toolchain that is there")
			}
			s.settle()
			if err := os.Remove(tool); err != nil {
				t.Fatal(err)
			}
			if a := s.execute(hello.request); a.code != http.StatusUnprocessableEntity && hello.wrong(a) != "" {
				t.Errorf("without its toolchain: %s", a)
			}
			if err := os.WriteFile(tool, nil, 0o755); err != nil { // half an installation
				t.Fatal(err)
			}
			if a := s.execute(hello.request); a.code != http.StatusUnprocessableEntity && a.Status != api.StatusSandboxError {
				t.Errorf("with an empty file in the place of its toolchain: %s", a)
			}
			put()
			s.works(t)
		})
	}
}
