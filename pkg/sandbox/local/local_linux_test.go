package local_test

import (
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
