package remote_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
)

// dial is a client that keeps to the frames, and to nothing else.
func dial(t *testing.T, f *far) (*tunnel.Session, error) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), f.url+"/v1/runtime/containers", &websocket.DialOptions{ //nolint:bodyclose // the library has it
		HTTPHeader: http.Header{"Authorization": {"Bearer " + f.key}}, Subprotocols: []string{tunnel.Protocol},
	})
	if err != nil {
		return nil, err
	}
	s := tunnel.Near(t.Context(), conn, nil)
	t.Cleanup(s.Close)
	return s, nil
}

func creation(t *testing.T) tunnel.Request {
	t.Helper()
	return tunnel.Request{Op: tunnel.OpCreate, Spec: must(tunnel.NewSpec(small))}
}

// hungUp waits for the far side to end the connection.
func hungUp(t *testing.T, what string, s *tunnel.Session) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Errorf("%s: the connection goes on", what)
	}
}

// A connection is for one container, which is asked for first, and once.
func TestOneContainerPerConnection(t *testing.T) {
	f := serve(t)
	for _, first := range []tunnel.Request{{Op: tunnel.OpUsage, Dir: sandbox.WorkspaceDir}, {Op: tunnel.OpStart}, {Op: tunnel.OpCreate}, {Op: "?"}} {
		s := must(dial(t, f))
		if _, err := s.Do(t.Context(), first); err == nil {
			t.Errorf("%s is answered", first.Op)
		}
		hungUp(t, string(first.Op), s)
	}
	s := must(dial(t, f))
	if _, err := s.Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do(t.Context(), creation(t)); err == nil {
		t.Error("a connection has two containers")
	}
	hungUp(t, "the second container", s)
	eventually(t, "the end of the first", func() bool { return len(f.runtime.manager.Alive()) == 0 })
}

// Nor is it asked for again while it waits for its place, with so much more to be kept meanwhile.
func TestOneContainerIsAskedFor(t *testing.T) {
	f := serve(t, func(o *server.Options) {
		o.Ledger = capacity.New(capacity.Limits{Runs: 1, MemoryBytes: 1 << 30, Queue: 1})
	})
	create(t, opened(t, remote.Options{}, f), small)
	s := must(dial(t, f))
	asked := creation(t)
	go func() { _, _ = s.Do(t.Context(), asked) }()
	eventually(t, "the second one", func() bool { return f.Ledger.Load().Waiting == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.Do(ctx, asked); err == nil || ctx.Err() != nil {
		t.Errorf("a second request for it: %v", err)
	}
	hungUp(t, "a second request for it", s)
}

// A program that asks for more than there is has not begun, and the container keeps the place that
// it has: none lives that the ledger does not know.
func TestMoreThanThereIs(t *testing.T) {
	f := serve(t, func(o *server.Options) { o.Ledger = capacity.New(capacity.Limits{Runs: 2, MemoryBytes: 1 << 30}) })
	c := create(t, opened(t, remote.Options{}, f), small)
	p := shell("echo large")
	for _, memory := range []int64{2 << 30, 1 << 50} {
		p.Limits.MemoryBytes = memory
		if _, err := c.Start(t.Context(), p); err == nil {
			t.Errorf("%d bytes are given", memory)
		}
		if load := f.Ledger.Load(); load.Running != 1 {
			t.Errorf("after that %+v, with a container", load)
		}
	}
	p.Limits.MemoryBytes = 1 << 30
	mustPrint(t, c, p, "large\n")
	// What is known to be too much beforehand has no container.
	spec := small
	spec.MemoryBytes = 2 << 30
	if c, err := opened(t, remote.Options{}, f).Create(t.Context(), spec); !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Errorf("%v, %v", c, err)
	}
}

// What is written to a container's files is memory of nobody's grant.
func TestFilesFromElsewhereAreBounded(t *testing.T) {
	f := serve(t)
	spec := small
	spec.Disk = sandbox.DiskLimit{Bytes: 1 << 30, Inodes: 1 << 10}
	c := create(t, opened(t, remote.Options{}, f), spec)
	tree := must(c.Files(sandbox.WorkspaceDir))
	content := make([]byte, 16<<20)
	written := 0
	for range 8 {
		if err := tree.WriteFile("large", bytes.NewReader(content), 0o600); err != nil {
			if !errors.Is(err, syscall.EFBIG) {
				t.Error(err)
			}
			break
		}
		written++
	}
	if written != 7 {
		t.Errorf("%d files of 16 MiB were written", written)
	}
	mustPrint(t, c, shell("echo goes on"), "goes on\n")
}

// A connection that is open ends with its key, and what its programs use is charged as they end.
func TestKeysOfOpenConnections(t *testing.T) {
	f := serve(t)
	revoked := f.newKey(t, auth.ScopeRuntime)
	quota, _, err := f.keys.Create(t.Context(), auth.NewKey{Tenant: "near", Scopes: []string{auth.ScopeRuntime}, Limits: store.KeyLimits{CPUSecondsPerDay: 0.05}})
	if err == nil {
		err = f.known.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	with := func(key string) sandbox.Container {
		other := *f
		other.key = key
		return create(t, opened(t, remote.Options{}, &other), small)
	}
	a, b := with(revoked), with(quota)
	mustPrint(t, a, shell("echo hi"), "hi\n")
	mustPrint(t, b, shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i"), "200000\n")
	if _, err := b.Start(t.Context(), shell("echo more")); err == nil || !strings.Contains(err.Error(), "CPU-seconds a day") {
		t.Errorf("the quota is used up: %v", err)
	}
	if err := errors.Join(f.keys.Revoke(t.Context(), revoked), f.known.Reload(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Start(t.Context(), shell("echo more")); err == nil {
		t.Error("a revoked key starts programs")
	}
}

// Connections that ask for nothing are few, whatever the key may have, and no other
// tenant's are fewer by them.
func TestConnectionsThatAskForNothing(t *testing.T) {
	f := serve(t)
	var idle []*tunnel.Session
	var refused error
	for range 200 {
		s, err := dial(t, f)
		if refused = err; err != nil {
			break
		}
		idle = append(idle, s)
	}
	if refused == nil || !strings.Contains(refused.Error(), "429") {
		t.Errorf("%d connections, and then %v", len(idle), refused)
	}
	if _, err := opened(t, remote.Options{}, f).Create(t.Context(), small); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("another container of the tenant: %v", err)
	}
	other := *f
	other.key = f.newKeyOf(t, "other", "runtime")
	mustPrint(t, create(t, opened(t, remote.Options{}, &other), small), shell("echo hi"), "hi\n")
	room := func() bool { _, err := dial(t, f); return err == nil }
	if _, err := idle[0].Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "room where one has asked", room)
	idle[1].Close()
	eventually(t, "room where one has gone", room)
}

// What one connection says of programs is about its own.
func TestOnlyOnesOwnProgram(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	running, err := create(t, rt, small).Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	s := must(dial(t, f))
	if _, err := s.Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	for call := range uint32(20) {
		for _, r := range []tunnel.Request{{Op: tunnel.OpKill, Call: call}, {Op: tunnel.OpSignal, Call: call, Signal: 9}} {
			if _, err := s.Do(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := s.Do(t.Context(), tunnel.Request{Op: tunnel.OpDelete}); err != nil {
		t.Error(err)
	}
	if alive := f.runtime.manager.Alive(); len(alive) != 1 {
		t.Errorf("alive are %q", alive)
	}
	if m, err := running.Metrics(); err != nil || m.CPUUser == nil {
		t.Errorf("%+v, %v", m, err)
	}
	if err := running.Kill(); err != nil {
		t.Error(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Signal != 9 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Who takes nothing of what a program writes does not keep its container.
func TestNobodyTakesTheOutput(t *testing.T) {
	f := serve(t, func(o *server.Options) { o.Containers.Overtime = 200 * time.Millisecond })
	s := must(dial(t, f))
	if _, err := s.Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	p := shell("yes")
	p.Stdout, p.Limits.WallTime = discarded{}, time.Millisecond
	if _, err := s.Start(t.Context(), tunnel.Request{Op: tunnel.OpStart, Process: tunnel.NewProcess(p)}); err != nil {
		t.Fatal(err)
	}
	hungUp(t, "nobody reads", s)
	f.Wait(t.Context())
	if load := f.Ledger.Load(); load.Running != 0 || load.MemoryBytes != 0 {
		t.Errorf("the ledger holds %+v", load)
	}
}

// A key that is revoked has no container any more, whether it does something there or not.
func TestRevokedKeyHasNoContainer(t *testing.T) {
	f := serve(t, func(o *server.Options) { o.Containers.Look = 10 * time.Millisecond })
	s := must(dial(t, f))
	if _, err := s.Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	keys, err := f.store.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if err := f.keys.Revoke(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.known.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	hungUp(t, "a key that was revoked", s)
}

// Who lets a container do something now and then does not keep it for ever.
func TestNoContainerIsForEver(t *testing.T) {
	f := serve(t, func(o *server.Options) { o.Containers.Life = 3 * time.Second })
	s := must(dial(t, f))
	if _, err := s.Do(t.Context(), creation(t)); err != nil {
		t.Fatal(err)
	}
	for s.Err() == nil {
		_, _ = s.Do(t.Context(), tunnel.Request{Op: tunnel.OpUsage, Dir: sandbox.WorkspaceDir})
	}
	hungUp(t, "an old container", s)
}

// The host's disk is nobody's workspace who has a container here.
func TestNoWorkspaceOnDisk(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	if caps, err := rt.Probe(t.Context()); err != nil || caps.WorkspaceOnDisk {
		t.Errorf("%+v, %v", caps, err)
	}
	spec := small
	spec.WorkspaceOnDisk = true
	if _, err := rt.Create(t.Context(), spec); !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Error(err)
	}
}

type discarded struct{}

func (discarded) Write(b []byte) (int, error) { return len(b), nil }

// A server that seems well, and answers nothing else, holds up no run.
func TestServerThatNeverAnswers(t *testing.T) {
	f := serve(t)
	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			_, _ = w.Write([]byte("{}"))
			return
		}
		<-r.Context().Done()
	}))
	defer mute.Close()
	rt := opened(t, remote.Options{Endpoints: []remote.Endpoint{{URL: mute.URL}}}, f)
	remote.SetPatience(rt, 300*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	spec := small
	spec.Language = "bash"
	if caps, err := rt.Probe(ctx); err != nil || caps.Runtime != "remote" {
		t.Errorf("%+v, %v", caps, err)
	}
	if img, err := rt.Image(ctx, spec); err != nil || img.Name != "host:far" {
		t.Errorf("%+v, %v", img, err)
	}
	if _, err := rt.Kept(ctx, spec, "nothing"); err != nil {
		t.Error(err)
	}
	mustPrint(t, create(t, rt, spec), shell("echo hi"), "hi\n")
}
