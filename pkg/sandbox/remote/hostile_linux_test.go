package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

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
	s := tunnel.Near(t.Context(), conn)
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
	t.Parallel()
	f := serve(t)
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
