package remote_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// far is a server as another one meets it, in this process and over TCP.
type far struct {
	*server.Server
	url, key string
	http     *httptest.Server
	runtime  *watched
	store    *store.Store
	keys     *auth.Keys
	known    *auth.Authenticator
	dir      string
}

// watched is the far side's runtime; it knows what is alive.
type watched struct {
	sandbox.Runtime
	manager *sandbox.Manager
}

func (w *watched) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	c, err := w.manager.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &watchedContainer{c, w}, nil
}

type watchedContainer struct {
	sandbox.Container
	w *watched
}

func (c *watchedContainer) Delete(ctx context.Context) error { return c.w.manager.Delete(ctx, c.ID()) }

// serve starts a server; it ends with the test, with nothing left.
func serve(t testing.TB, change ...func(*server.Options)) *far {
	t.Helper()
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f := &far{dir: t.TempDir(), runtime: &watched{rt, sandbox.NewManager(rt, 0)}}
	if f.store, err = store.Open(t.Context(), store.Options{Dir: f.dir}); err != nil {
		t.Fatal(err)
	}
	f.keys = auth.NewKeys(f.store, f.dir)
	f.key = f.newKey(t, auth.ScopeRuntime)
	keys, err := auth.Open(t.Context(), auth.Options{Store: f.store, Dir: f.dir})
	if err != nil {
		t.Fatal(err)
	}
	f.known = keys
	keeping, err := kept.Open(filepath.Join(f.dir, "cache", "remote"), kept.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	conf := executor.DefaultConfig()
	conf.DataDir = f.dir
	conf.Host = language.Host{Path: filepath.SplitList(os.Getenv("PATH")), Home: os.Getenv("HOME")}
	opts := server.Options{
		Executor: executor.New(f.runtime, conf), Runtime: f.runtime, Ledger: capacity.New(capacity.Limits{Runs: 200, MemoryBytes: 1 << 40}),
		Keys: keys, Store: f.store, Log: slog.New(slog.DiscardHandler), Version: "test", MaxBodyBytes: 1 << 20,
		Containers: &server.Containers{Config: conf, Kept: keeping, Node: "far"},
	}
	for _, c := range change {
		c(&opts)
	}
	if f.Server, err = server.New(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	f.http = httptest.NewServer(f.Server)
	f.url = f.http.URL
	t.Cleanup(func() {
		f.EndRuns()
		f.Wait(context.Background())
		f.http.Close()
		if alive := f.runtime.manager.Alive(); len(alive) > 0 {
			t.Errorf("containers are left on the far side: %q", alive)
		}
		if err := errors.Join(keeping.Close(), rt.Close(), f.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// keyless is a server that everybody on this machine may use.
func keyless(o *server.Options) { o.Keys, o.LoopbackOnly = nil, true }

func (f *far) newKey(t testing.TB, scopes ...string) string {
	t.Helper()
	return f.newKeyOf(t, "near", scopes...)
}

func (f *far) newKeyOf(t testing.TB, tenant string, scopes ...string) string {
	t.Helper()
	key, _, err := f.keys.Create(t.Context(), auth.NewKey{Tenant: tenant, Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	if f.known != nil {
		if err := f.known.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return key
}

// open opens a runtime of servers.
func open(t testing.TB, opts remote.Options, servers ...*far) *remote.Runtime {
	t.Helper()
	for _, f := range servers {
		opts.Endpoints = append(opts.Endpoints, remote.Endpoint{URL: f.url})
		opts.APIKey = remote.NewSecret(f.key)
	}
	opts.Transport = &http.Transport{}
	rt, err := remote.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// opened is the same, and closed with the test.
func opened(t *testing.T, opts remote.Options, servers ...*far) *remote.Runtime {
	t.Helper()
	rt := open(t, opts, servers...)
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return rt
}

func TestConformance(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) {
			f := serve(t, func(o *server.Options) {
				o.Isolation = sandbox.LevelRestricted
				o.Containers.MayReach = func(sandbox.NetworkPolicy) error { return nil } // the suite's servers are on loopback
			})
			sandboxtest.Run(t, sandboxtest.Options{Level: level, Open: func(t *testing.T) sandbox.Runtime {
				return open(t, remote.Options{}, f)
			}})
		})
	}
}

var small = sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 8 << 20, Inodes: 500}}

func shell(script string) sandbox.Process {
	return sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=/workspace"}}
}

func create(t *testing.T, rt sandbox.Runtime, spec sandbox.Spec) sandbox.Container {
	t.Helper()
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background()) })
	return c
}

// mustPrint runs a program that has to print something.
func mustPrint(t *testing.T, c sandbox.Container, p sandbox.Process, want string) {
	t.Helper()
	var out strings.Builder
	p.Stdout, p.Stderr = &out, &out
	if p.TTY == nil {
		p.Stderr = nil
	}
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || out.String() != want {
		t.Errorf("%q prints %q, want %q (%+v, %v)", p.Args, out.String(), want, exit, err)
	}
}
