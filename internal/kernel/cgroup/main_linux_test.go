package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// helperEnv makes the test binary behave as a program that misbehaves.
const helperEnv = "CGROUP_TEST_HELPER"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" {
		os.Exit(helper(what))
	}
	os.Exit(m.Run())
}

// helper is what runs inside a group.
func helper(what string) int {
	verb, arg, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "exit":
	case "sleep":
		time.Sleep(time.Hour)
	case "eat": // MiB, then end
		touch(n)
	case "eat-then-kill":
		touch(n)
		unix.Kill(os.Getpid(), unix.SIGKILL)
	case "eat-by-child": // the parent lives on
		cmd := again("eat " + arg)
		fmt.Println("child:", cmd.Run() != nil)
		time.Sleep(time.Hour)
	case "fork": // children that last
		for range n {
			if again("sleep").Start() != nil {
				return 3
			}
		}
	case "burn": // milliseconds of CPU time
		for cpuTime() < time.Duration(n)*time.Millisecond {
		}
	case "spin": // all of them on one core
		runtime.LockOSThread()
		var cores, one unix.CPUSet
		if unix.SchedGetaffinity(0, &cores) != nil {
			return 3
		}
		for one.Count() == 0 {
			if cores.IsSet(n) {
				one.Set(n)
			}
			n++
		}
		if unix.SchedSetaffinity(0, &one) != nil {
			return 3
		}
		for cpuTime() < time.Hour {
		}
	case "read":
		if _, err := os.ReadFile(arg); err != nil {
			return 3
		}
	case "delegated":
		return delegated(arg)
	case "bomb": // in sessions of their own, for ever
		unix.Setsid()
		for {
			_ = again("bomb").Start()
		}
	default:
		fmt.Fprintf(os.Stderr, "no helper %q\n", what)
		return 99
	}
	return 0
}

func again(what string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helperEnv + "=" + what, "GOMAXPROCS=1"}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

func touch(mib int) {
	mem, err := unix.Mmap(-1, 0, mib<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // a fault for each page
	for i := 0; i < len(mem); i += 4096 {
		mem[i] = 1
	}
	runtime.KeepAlive(mem)
}

func cpuTime() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// startIn starts a helper that is born in the group.
func startIn(t testing.TB, g *Group, cmd *exec.Cmd) {
	t.Helper()
	// No descriptor of ours may keep output open when the helper's children live on.
	if dir, ok := g.V2Dir(); ok {
		cmd.SysProcAttr = &unix.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	enter(t, g.TasksFiles())
	err := cmd.Start()
	enter(t, g.h.HomeTasksFiles())
	if err != nil {
		t.Fatal(err)
	}
}

func enter(t testing.TB, files []*os.File) {
	t.Helper()
	for _, f := range files {
		if _, err := f.Write([]byte("0")); err != nil {
			t.Fatal(err)
		}
	}
}

// live returns this machine's hierarchy with a parent of the test's own, which
// is gone, with all that was in it, when the test has ended.
func live(t testing.TB) *Hierarchy {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making control groups needs root, or a delegated group that a test cannot count on")
	}
	h, err := Detect(Options{Parent: fmt.Sprintf("sandbox-run-test-%d", os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Controller{Memory, CPU, PIDs} {
		if s := h.Controllers()[c]; s.Version == 0 {
			h.Close()
			t.Skipf("this host has no usable %s control group: %s", c, s.Reason)
		}
	}
	t.Cleanup(func() {
		for _, tr := range h.trees {
			if names, _ := tr.base.subdirs(tr.parent); len(names) > 0 {
				t.Errorf("left behind in %s: %v", tr.base.path(tr.parent), names)
			}
			if err := tr.removeAll(tr.parent); err != nil {
				t.Error(err)
			}
		}
		h.Close()
	})
	return h
}

// create makes a group that is killed and deleted when the test has ended.
func create(t testing.TB, h *Hierarchy, name string, l Limits) *Group {
	t.Helper()
	g, err := h.Create(name, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.Kill(), g.WaitEmpty(t.Context()), g.Delete()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		if err := g.Delete(); err != nil {
			t.Error("second Delete:", err)
		}
	})
	return g
}

func stats(t testing.TB, g *Group) Stats {
	t.Helper()
	s, err := g.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
