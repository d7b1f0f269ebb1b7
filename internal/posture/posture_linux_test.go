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

func TestPosture(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) {
			p, err := posture.Take(t.Context(), rt, level)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", p)
			for _, fault := range p.Faults() {
				t.Error(fault)
			}
		})
	}
}

// pooled is a runtime whose containers were made before they are wanted.
type pooled struct {
	sandbox.Runtime
	manager *sandbox.Manager
}

func (p pooled) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	w := sandbox.Want{Spec: spec}
	p.manager.Prepare(w, 1)
	for ctx.Err() == nil {
		if c := p.manager.TakeReady(w); c != nil {
			return taken{c, p.manager}, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, ctx.Err()
}

type taken struct {
	sandbox.Container
	manager *sandbox.Manager
}

func (t taken) Delete(ctx context.Context) error { return t.manager.Delete(ctx, t.ID()) }

var ready = flag.Int("ready", 20, "of how many containers that were ready the first and the last are to look the same")

// The last of many containers that were made ahead looks like the first, and like one that
// was made when it was wanted.
func TestReadyContainersLookTheSame(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	m := sandbox.NewManager(rt, 0)
	m.KeepReady(sandbox.PoolOptions{Containers: 4, MemoryBytes: 1 << 30, Makers: 1, Failed: func(err error) { t.Error(err) }})
	defer m.Close()
	cold, err := posture.Take(t.Context(), rt, sandbox.LevelFull)
	if err != nil {
		t.Fatal(err)
	}
	for n := range *ready {
		if n > 0 && n < *ready-1 {
			c, err := pooled{rt, m}.Create(t.Context(), sandbox.Spec{Tenant: "posture", Level: sandbox.LevelFull})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		p, err := posture.Take(t.Context(), pooled{rt, m}, sandbox.LevelFull)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(cold.String(), p.String()); diff != "" {
			t.Errorf("container %d: %s", n, diff)
		}
	}
}
