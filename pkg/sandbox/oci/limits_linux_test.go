package oci_test

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// TestInitPaysNothing: what a program leaves in memory as files, up to its limit, is
// read by init all the same; and where init itself is what the kernel finds to kill,
// that is the program's memory limit and no failure of ours.
func TestInitPaysNothing(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	big := spec
	big.Disk = sandbox.DiskLimit{Bytes: 256 << 20, Inodes: 100}
	c, err := rt.Create(t.Context(), big)
	if err != nil {
		t.Fatal(err)
	}
	run := func(script string) sandbox.Exit {
		t.Helper()
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Limits: sandbox.Limits{MemoryBytes: 32 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := running.Wait()
		if err != nil {
			t.Fatalf("%v after %+v", err, exit)
		}
		return exit
	}
	if exit := run("head -c 30m /dev/zero >big"); exit.Code != 0 || exit.OOMKills != 0 {
		t.Errorf("30 of 32 MiB: %+v", exit)
	}
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile("beside", strings.NewReader(strings.Repeat("x", 4<<20)), 0o644); err != nil {
		t.Errorf("init writes as little as the program might: %v", err)
	}
	// Nor does the next process pay for what lies there, and it gets no more by it.
	if exit := run("head -c 30m /dev/zero >more"); exit.Code != 0 || exit.OOMKills != 0 {
		t.Errorf("30 of 32 MiB, beside 34: %+v", exit)
	}
	if exit := run("cat /dev/zero >most"); exit.OOMKills == 0 || exit.HostOOM {
		t.Errorf("more than the limit: %+v", exit)
	}
}

// TestInitKilledFromOutside: who kills init ends the program, and is not taken for its want of
// memory.
func TestInitKilledFromOutside(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	kills := func() string {
		content, err := os.ReadFile("/proc/vmstat")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(content), "\noom_kill ")
		count, _, _ := strings.Cut(rest, "\n")
		return count
	}
	for range 10 { // other tests have the kernel kill for memory at the same time
		before := kills()
		c, err := rt.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}, Limits: sandbox.Limits{MemoryBytes: 64 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(initOf(t, c.ID()), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		exit, err := running.Wait()
		if kills() != before {
			continue
		}
		if !errors.Is(err, syscall.EAGAIN) || exit.OOMKills > 0 {
			t.Errorf("%+v, %v", exit, err)
		}
		return
	}
	t.Skip("the kernel kills for memory all the time")
}

// initOf is the first process of a container, as this machine numbers it.
func initOf(t *testing.T, id string) int {
	t.Helper()
	for _, dir := range []string{"/sys/fs/cgroup/pids/", "/sys/fs/cgroup/"} {
		if content, err := os.ReadFile(dir + "sandbox-run-" + id + "/cgroup.procs"); err == nil {
			first, _, _ := strings.Cut(string(content), "\n")
			pid, err := strconv.Atoi(first)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("the container has no control group")
	return 0
}

// TestQuotaIsLifted: who is killed has the CPU time to die, and the next process has its
// own limit and no more.
func TestQuotaIsLifted(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	quota := func() string {
		for _, file := range []string{"/sys/fs/cgroup/cpu/sandbox-run-" + c.ID() + "/cpu.cfs_quota_us", "/sys/fs/cgroup/sandbox-run-" + c.ID() + "/cpu.max"} {
			if content, err := os.ReadFile(file); err == nil {
				value, _, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
				return strings.Replace(value, "max", "-1", 1)
			}
		}
		t.Fatal("the container has no control group for CPU time")
		return ""
	}
	for _, limit := range []struct {
		cpus float64
		want string
	}{{0.5, "500000"}, {0.1, "100000"}} {
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}, Limits: sandbox.Limits{CPUs: limit.cpus}})
		if err != nil {
			t.Fatal(err)
		}
		if got := quota(); got != limit.want {
			t.Errorf("%g CPUs: quota %s", limit.cpus, got)
		}
		if err := running.Kill(); err != nil {
			t.Fatal(err)
		}
		if got := quota(); got != "-1" {
			t.Errorf("after a kill: quota %s", got)
		}
		if _, err := running.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := sandboxtest.Script(t, c, nil, "nice"); got != "0\n" {
		t.Errorf("the next program's priority is %q", got)
	}
}

// TestNoSwapping: a group of version 1 at its limit has nothing go to swap, also where the
// kernel counts none.
func TestNoSwapping(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Script(t, c, nil, "true")
	got, err := os.ReadFile("/sys/fs/cgroup/memory/sandbox-run-" + c.ID() + "/memory.swappiness")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the groups are of version 2, where the limit of swap is 0")
	}
	if err != nil || string(got) != "0\n" {
		t.Errorf("swappiness %q, %v", got, err)
	}
}

func TestTerminals(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		needsThisKernel(t)
		rt := open(t, "")
		t.Cleanup(func() { rt.Close() })
		sandboxtest.RunTerminals(t, rt)
	})
}
