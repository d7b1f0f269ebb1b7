package e2b_test

import (
	"errors"
	"os"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if code, guest := e2btest.Main(); guest {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	s := e2btest.Start(t)
	sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, Image: true, Open: func(t *testing.T) sandbox.Runtime {
		return open(t, s, e2b.Options{RuntimeDir: t.TempDir()})
	}})
	t.Cleanup(func() {
		if left := s.Alive(); len(left) > 0 {
			t.Errorf("sandboxes are left: %q", left)
		}
	})
}

// open opens a runtime of a server.
func open(t *testing.T, s *e2btest.Server, opts e2b.Options) *e2b.Runtime {
	t.Helper()
	opts.APIURL, opts.SandboxURL, opts.APIKey = s.URL, s.URL, e2b.NewSecret(e2btest.Key)
	rt, err := e2b.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// start starts a server, a runtime and a container, which end with the test.
func start(t *testing.T, spec sandbox.Spec, change ...func(*e2btest.Server)) (*e2btest.Server, *e2b.Runtime, sandbox.Container) {
	t.Helper()
	s := e2btest.Start(t)
	for _, f := range change {
		f(s)
	}
	rt := open(t, s, e2b.Options{})
	t.Cleanup(func() {
		s.Heal()
		if err := rt.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return s, rt, c
}

var small = sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 8 << 20, Inodes: 500}}

func shell(script string) sandbox.Process {
	return sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=/workspace"}}
}

// run runs a process to its end.
func run(t *testing.T, c sandbox.Container, p sandbox.Process) (sandbox.Exit, error) {
	t.Helper()
	running, err := c.Start(t.Context(), p)
	if err != nil {
		return sandbox.Exit{}, err
	}
	return running.Wait()
}

// mustPrint runs a script that has to print something.
func mustPrint(t *testing.T, c sandbox.Container, script, want string) {
	t.Helper()
	var out buffer
	p := shell(script)
	p.Stdout, p.Stderr = &out, &out
	if exit, err := run(t, c, p); err != nil || out.String() != want {
		t.Errorf("%s prints %q, want %q (%+v, %v)", script, out.String(), want, exit, err)
	}
}

func unsupported(err error) bool { return errors.As(err, new(*sandbox.UnsupportedError)) }
