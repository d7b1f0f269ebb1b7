package local

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// expecting is a container in which a process with these limits waits for its command.
func expecting(t *testing.T, limits sandbox.Limits) *container {
	t.Helper()
	c := small(t)
	if err := c.Expect(t.Context(), sandbox.Process{Limits: limits}); err != nil {
		t.Fatal(err)
	}
	if c.expected == nil {
		t.Skip("programs of this kernel's containers are supervised")
	}
	return c
}

func small(t *testing.T) *container {
	t.Helper()
	made, err := opened(t).Create(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*container)
	t.Cleanup(func() {
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// What waits is the process if that has the limits which were expected, and is in nobody's
// way otherwise.
func TestExpect(t *testing.T) {
	expected := sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1, OpenFiles: 100}
	other, later := expected, expected
	other.MemoryBytes /= 2
	later.WallTime = time.Minute
	for name, tc := range map[string]struct {
		limits []sandbox.Limits // of the processes, one after the other
		groups int              // that were made
	}{
		"nothing runs":      {nil, 1},
		"as expected":       {[]sandbox.Limits{expected}, 1},
		"another":           {[]sandbox.Limits{other}, 2},
		"with another time": {[]sandbox.Limits{later}, 1},
		"only the next is":  {[]sandbox.Limits{expected, expected}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := expecting(t, expected)
			for _, limits := range tc.limits {
				running, err := c.Start(t.Context(), sandbox.Process{
					// The shell ends because its group does: on cgroup v1 the kernel kills tail alone.
					Args: []string{"/bin/sh", "-c", "tail /dev/zero; exec sleep 1000"}, Limits: limits,
				})
				if err != nil {
					t.Fatal(err)
				}
				exit, err := running.Wait()
				if err != nil {
					t.Fatal(err)
				}
				most := limits.MemoryBytes + int64(os.Getpagesize()) // who dies for memory gets what telling his tracer takes
				if c.rt.host.has(cgroup.Memory) && (exit.OOMKills == 0 || exit.HostOOM || exit.Metrics.MemoryPeakBytes == nil || *exit.Metrics.MemoryPeakBytes > most) {
					t.Errorf("more than %d bytes of memory, and it ended with %+v", limits.MemoryBytes, exit)
				}
			}
			if c.groups != tc.groups {
				t.Errorf("%d groups were made, not %d", c.groups, tc.groups)
			}
		})
	}
}

// What was expected is in nothing another process than one that was not.
func TestExpectedLooksTheSame(t *testing.T) {
	const look = `cat; cd /proc/self; for f in 0 1 2; do readlink fd/$f | tr -d 0-9; done; echo fd/*
		grep -E '^(Umask|Pid|PPid|NSpid|NSsid|NSpgid|Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Sig|Shd)' /proc/self/status
		cat limits oom_score_adj cgroup timerslack_ns coredump_filter; readlink cwd root ns/time ns/cgroup | tr -d 0-9; echo "$0 $A"; umask`
	limits := sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1, OpenFiles: 100}
	for name, streams := range map[string]sandbox.Process{
		"all streams": {Stdin: strings.NewReader("in\n")},
		"no input":    {},
	} {
		t.Run(name, func(t *testing.T) {
			said := map[bool]string{}
			for _, expected := range []bool{true, false} {
				c := small(t)
				if expected {
					c = expecting(t, limits)
				}
				var out strings.Builder
				p := sandbox.Process{Args: []string{"/bin/sh", "-c", look, "name"}, Env: []string{"A=b", "PATH=/usr/bin:/bin"}, Dir: "/tmp", Limits: limits, Stdout: &out}
				if p.Stdin = streams.Stdin; p.Stdin != nil {
					p.Stdin, p.Stderr = strings.NewReader("in\n"), io.Discard
				}
				running, err := c.Start(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if exit, err := running.Wait(); err != nil || exit.Code != 0 {
					t.Fatalf("%+v, %v", exit, err)
				}
				said[expected] = out.String()
			}
			if said[true] != said[false] || len(said[true]) < 500 {
				t.Errorf("one that was expected:\n%s\none that was not:\n%s", said[true], said[false])
			}
		})
	}
}

// What cannot be executed is told as ever, and what has died while it waited is not used.
func TestExpectedThatFails(t *testing.T) {
	c := expecting(t, sandbox.Limits{})
	_, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/no/such/program"}})
	if failed := (*sandbox.StartError)(nil); !errors.As(err, &failed) || !errors.Is(err, unix.ENOENT) {
		t.Errorf("error %v", err)
	}
	c = expecting(t, sandbox.Limits{})
	_, err = c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}, Dir: "/no/such/place"})
	if failed := (*sandbox.StartError)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), "the working directory /no/such/place") {
		t.Errorf("error %v", err)
	}
	few := sandbox.Limits{OpenFiles: 8} // of which none is to be taken by what it waits with
	c = expecting(t, few)
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}, Limits: few})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Code != 0 || c.groups != 1 {
		t.Errorf("%+v, %v, %d groups", exit, err, c.groups)
	}
	c = expecting(t, sandbox.Limits{})
	if err := c.killPrograms(); err != nil {
		t.Fatal(err)
	}
	c.init.WaitIdle()
	running, err = c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", "exit 7"}})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Code != 7 {
		t.Errorf("%+v, %v", exit, err)
	}
}
