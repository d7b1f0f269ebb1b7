package posture_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

var many = flag.Int("ready", 3, "which container that was ready, or had something forked in it, is compared with a new one")

var disk = sandbox.DiskLimit{Bytes: 4 << 20, Inodes: 100}

// TestReadyContainersLookTheSame looks at the first and at the last of many containers that were
// made ahead, with a process in them that waits for its command, and of many in which an
// interpreter was forked from one that waits. Both have the network namespaces of those before.
func TestReadyContainersLookTheSame(t *testing.T) {
	rt := opened(t, local.Options{Many: true})
	m := sandbox.NewManager(rt, 0)
	m.KeepReady(sandbox.PoolOptions{Containers: 8, MemoryBytes: 1 << 40, OneTenant: true, Failed: func(err error) { t.Error(err) }})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	ways := []sandbox.Runtime{&readied{Runtime: rt, m: m}}
	if forks := newForking(t, rt); forks != nil {
		ways = append(ways, forks)
	}
	look := func(from sandbox.Runtime) string {
		p, err := posture.Take(t.Context(), from, sandbox.LevelFull)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range p.Faults() {
			t.Errorf("%T: %s", from, fault)
		}
		return p.String()
	}
	want := look(rt)
	for n := range *many {
		for _, from := range ways {
			if n != 0 && n != *many-1 {
				passOne(t, from, "/bin/true")
			} else if diff := cmp.Diff(want, look(from)); diff != "" {
				t.Errorf("a new container, and that of run %d (%T):\n%s", n+1, from, diff)
			}
		}
	}
	for _, from := range ways {
		recycles(t, from)
	}
}

// passOne runs something in one container, and gives what it says.
func passOne(t *testing.T, rt sandbox.Runtime, args ...string) string {
	t.Helper()
	c, err := rt.Create(t.Context(), sandbox.Spec{Tenant: "posture", Level: sandbox.LevelFull, Disk: disk, BuildDisk: disk, NoFetch: true})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	running, err := c.Start(t.Context(), sandbox.Process{Args: args, Stdout: &out})
	if err == nil {
		_, err = running.Wait()
	}
	if err := errors.Join(err, c.Delete(t.Context())); err != nil {
		t.Error(err)
	}
	return out.String()
}

// recycles sees that network namespaces come back, by a number that the kernel gives to each and
// never again. Else nothing is said of those that do.
func recycles(t *testing.T, rt sandbox.Runtime) {
	t.Helper()
	const program = "import socket; print(socket.socket(socket.AF_UNIX).getsockopt(socket.SOL_SOCKET, 71, 8).hex())" // SO_NETNS_COOKIE
	seen := map[string]bool{}
	for range 6 {
		number := passOne(t, rt, python, "-S", "-c", program)
		if seen[number] || number == "" { // Linux before 5.14 has none, and not every host Python
			return
		}
		seen[number] = true
	}
	if os.Geteuid() == 0 {
		t.Errorf("%T: no network namespace came back in %d containers", rt, len(seen))
	}
}

// readied is a runtime whose containers were ready.
type readied struct {
	sandbox.Runtime
	m *sandbox.Manager
}

func (rt *readied) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	w := sandbox.Want{Spec: spec, First: &sandbox.Process{Limits: sandbox.Limits{MemoryBytes: 64 << 20, Processes: 16, CPUs: 1, OpenFiles: 64}, ReadOnly: []string{sandbox.BuildDir}}}
	w.Spec.Tenant = "" // of a tenant's own there are only those that it has wanted
	rt.m.Prepare(w, 2)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if c := rt.m.TakeReady(w); c != nil {
			return &ready{c, rt.m}, nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ready is one of them, in which each process waits before it is started.
type ready struct {
	sandbox.Container
	m *sandbox.Manager
}

func (c *ready) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	if e, can := c.Container.(sandbox.Expecter); can {
		if err := e.Expect(ctx, sandbox.Process{Limits: p.Limits, ReadOnly: p.ReadOnly}); err != nil {
			return nil, err
		}
	}
	return c.Container.Start(ctx, p)
}

func (c *ready) Delete(ctx context.Context) error { return c.m.Delete(ctx, c.ID()) }

// forking is a runtime whose programs are begun by interpreters that an ancestor has forked.
type forking struct {
	sandbox.Runtime
	ancestor sandbox.Ancestor
}

const python = "/usr/bin/python3"

// interpreter becomes an ancestor. A child of it becomes the program that it is told, with all that
// it has open itself, and with /dev/null for the stream that nobody reads.
const interpreter = `
import _imp, os, sys
try:
    _imp.create_dynamic(type(sys.__spec__)("ancestor", None, origin="/workspace/ancestor.so"))
except ImportError:
    pass
told = b""
while not told.endswith(b"\n"):
    told += os.read(0, 1)
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 2)
os.close(null)
for fd in os.listdir("/proc/self/fd"):
    if os.path.exists("/proc/self/fd/" + fd):
        os.set_inheritable(int(fd), True)
args = told[:-1].split(b"\0")
os.execve(args[0], args, {"PATH": "/usr/bin:/bin"})`

// newForking is nil where nothing can be forked.
func newForking(t *testing.T, rt sandbox.Runtime) *forking {
	t.Helper()
	if _, err := exec.LookPath(python); err != nil {
		t.Log("there is no Python to fork")
		return nil
	}
	c, err := rt.Create(t.Context(), sandbox.Spec{Tenant: "posture", Level: sandbox.LevelFull, Disk: disk, BuildDisk: disk})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.(sandbox.Ancestral).Ancestor(t.Context(), sandbox.Process{Args: []string{python, "-S", "-c", interpreter}, Limits: sandbox.Limits{MemoryBytes: 64 << 20}}, sandbox.Ancestry{Library: "ancestor.so"})
	if errors.Is(err, sandbox.ErrNoAncestor) {
		t.Log(err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), c.Delete(context.WithoutCancel(t.Context()))); err != nil {
			t.Error(err)
		}
	})
	return &forking{rt, a}
}

func (rt *forking) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	spec.Recycle = "tenant " + spec.Tenant
	c, err := rt.Runtime.Create(ctx, spec)
	return &forked{c, rt.ancestor}, err
}

// forked is one of their containers.
type forked struct {
	sandbox.Container
	ancestor sandbox.Ancestor
}

func (c *forked) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	told, rest := strings.NewReader(strings.Join(p.Args, "\x00")+"\n"), p.Stdin
	if p.Args, p.Stdin, p.Stderr = []string{python, "-S", "-c", interpreter}, told, io.Discard; rest != nil {
		p.Stdin = io.MultiReader(told, rest)
	}
	if p.Stdout == nil {
		p.Stdout = io.Discard
	}
	return c.ancestor.Start(ctx, c.Container, p)
}
