package posture_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

var many = flag.Int("ready", 3, "which container that was ready is compared with the first, and with one that was not")

// TestReadyContainersLookTheSame looks at the first and at the last of many containers that were
// made ahead, with a process in them that waits for its command.
func TestReadyContainersLookTheSame(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	m := sandbox.NewManager(rt, 0)
	m.KeepReady(sandbox.PoolOptions{Containers: 8, MemoryBytes: 1 << 40, Failed: func(err error) { t.Error(err) }})
	defer m.Close()
	ahead := &readied{Runtime: rt, m: m}
	want := ""
	for n := range *many {
		if n != 0 && n != *many-1 {
			ahead.passOne(t)
			continue
		}
		for _, from := range []sandbox.Runtime{rt, ahead} {
			p, err := posture.Take(t.Context(), from, sandbox.LevelFull)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = p.String()
			}
			if diff := cmp.Diff(want, p.String()); diff != "" {
				t.Errorf("a new container, and that of run %d (%T):\n%s", n+1, from, diff)
			}
		}
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

// passOne runs something in one of them.
func (rt *readied) passOne(t *testing.T) {
	t.Helper()
	disk := sandbox.DiskLimit{Bytes: 4 << 20, Inodes: 100}
	c, err := rt.Create(t.Context(), sandbox.Spec{Tenant: "posture", Level: sandbox.LevelFull, Disk: disk, BuildDisk: disk, NoFetch: true})
	if err != nil {
		t.Fatal(err)
	}
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}})
	if err == nil {
		_, err = running.Wait()
	}
	if err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
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
