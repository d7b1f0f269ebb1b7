package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fakeRuntime is a runtime in which every program is a Go function.
type fakeRuntime struct {
	program func(c *fakeContainer, p sandbox.Process) sandbox.Exit
	// heartbeat is how long a stream may be silent; 0 is for ever.
	heartbeat time.Duration
	// onCreate runs before a container is made, which fails with what it returns.
	onCreate func() error
	// onProbe runs when it is asked what it can do.
	onProbe func(context.Context) error
	// onImage runs when an image is looked at, which fails with what it returns.
	onImage func() error
}

func (*fakeRuntime) Name() string { return "fake" }
func (*fakeRuntime) Close() error { return nil }
func (rt *fakeRuntime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	if rt.onProbe != nil {
		if err := rt.onProbe(ctx); err != nil {
			return sandbox.Capabilities{}, err
		}
	}
	return sandbox.Capabilities{Runtime: "fake"}, nil
}

func (rt *fakeRuntime) Image(context.Context, sandbox.Spec) (sandbox.Image, error) {
	if rt.onImage != nil {
		if err := rt.onImage(); err != nil {
			return sandbox.Image{}, err
		}
	}
	return sandbox.Image{}, nil
}

func (rt *fakeRuntime) Create(context.Context, sandbox.Spec) (sandbox.Container, error) {
	if rt.onCreate != nil {
		if err := rt.onCreate(); err != nil {
			return nil, err
		}
	}
	return &fakeContainer{rt: rt, files: map[string][]byte{}}, nil
}

// fakeContainer has one process, and is its own file tree.
type fakeContainer struct {
	rt    *fakeRuntime
	files map[string][]byte
	exit  chan sandbox.Exit
}

func (*fakeContainer) ID() string { return "fake" }
func (*fakeContainer) Isolation() sandbox.Isolation {
	return sandbox.Isolation{Level: sandbox.LevelFull}
}
func (c *fakeContainer) Files(string) (sandbox.FileTree, error) { return c, nil }
func (*fakeContainer) Delete(context.Context) error             { return nil }

func (c *fakeContainer) Start(_ context.Context, p sandbox.Process) (sandbox.Running, error) {
	c.exit = make(chan sandbox.Exit, 1)
	go func() {
		if c.rt.program == nil {
			c.exit <- sandbox.Exit{}
			return
		}
		c.exit <- c.rt.program(c, p)
	}()
	return c, nil
}

func (c *fakeContainer) Wait() (sandbox.Exit, error)                  { return <-c.exit, nil }
func (*fakeContainer) Signal(syscall.Signal) error                    { return nil }
func (*fakeContainer) Kill() error                                    { return nil }
func (*fakeContainer) Metrics() (sandbox.Metrics, error)              { return sandbox.Metrics{}, nil }
func (*fakeContainer) Resize(uint16, uint16) error                    { return nil }
func (*fakeContainer) MkdirAll(string) error                          { return nil }
func (*fakeContainer) Usage() (sandbox.DiskUsage, error)              { return sandbox.DiskUsage{}, nil }
func (*fakeContainer) WriteFile(string, io.Reader, fs.FileMode) error { return nil }

func (c *fakeContainer) Open(name string) (sandbox.File, error) {
	return fakeFile{bytes.NewReader(c.files[name])}, nil
}

func (c *fakeContainer) Walk(_ int, visit func(sandbox.FileInfo) error) error {
	for name, content := range c.files {
		if err := visit(sandbox.FileInfo{Path: name, Size: int64(len(content)), Mode: 0o644}); err != nil {
			return err
		}
	}
	return nil
}

type fakeFile struct{ *bytes.Reader }

func (fakeFile) Close() error               { return nil }
func (fakeFile) Stat() (os.FileInfo, error) { return nil, errors.ErrUnsupported }

// newServer is a server of rt on a socket of its own, which is not started yet.
func newServer(t *testing.T, rt *fakeRuntime, o Options) *httptest.Server {
	t.Helper()
	conf := executor.DefaultConfig()
	conf.Heartbeat = rt.heartbeat
	o.Executor, o.Runtime = executor.New(rt, conf), rt
	if o.Ledger == nil {
		o.Ledger = capacity.New(capacity.Limits{Runs: 100, MemoryBytes: 1 << 40})
	}
	o.Log = slog.New(slog.DiscardHandler)
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = 1 << 20
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewUnstartedServer(s)
	t.Cleanup(served.Close)
	return served
}
