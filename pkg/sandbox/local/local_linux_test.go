package local_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

func TestConformance(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone} {
		t.Run(string(level), func(t *testing.T) {
			sandboxtest.Run(t, sandboxtest.Options{Level: level, OwnNamespaces: level == sandbox.LevelFull, Open: func(t *testing.T) sandbox.Runtime {
				rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				return rt
			}})
		})
	}
	t.Run("full, expected", func(t *testing.T) {
		sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, OwnNamespaces: true, Open: func(t *testing.T) sandbox.Runtime {
			rt, err := local.New(local.Options{RuntimeDir: t.TempDir(), Many: true})
			if err != nil {
				t.Fatal(err)
			}
			return expectant{rt}
		}})
	})
}

// expectant is a runtime whose containers expect each process before it is started.
type expectant struct{ sandbox.Runtime }

func (rt expectant) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	c, err := rt.Runtime.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	return expecting{c}, nil
}

type expecting struct{ sandbox.Container }

func (c expecting) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	_ = c.Container.(sandbox.Expecter).Expect(ctx, sandbox.Process{Limits: p.Limits, Network: p.Network, ReadOnly: p.ReadOnly}) // what may not be is refused by Start
	return c.Container.Start(ctx, p)
}

// Where no control group holds the CPU limit, whole cores are all there is: a
// fraction that was asked for by name does not start.
func TestStrictFractionOfACPU(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir(), NoCgroups: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	c, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelNone, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.Process{Args: []string{"/bin/true"}, Limits: sandbox.Limits{CPUs: 0.5, Strict: []string{sandbox.LimitCPUs}}}
	if _, err := c.Start(t.Context(), p); !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Errorf("error %v, want that it is not supported", err)
	}
	p.Limits.CPUs = 1
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestTerminals(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	sandboxtest.RunTerminals(t, rt)
}
