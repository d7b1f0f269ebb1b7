package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
)

// wire is a way to a server that can be cut.
type wire struct {
	url string
	mu  sync.Mutex
	all []net.Conn
}

func wireTo(t *testing.T, f *far) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{url: "http://" + l.Addr().String()}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", f.http.Listener.Addr().String())
			if err != nil {
				near.Close()
				continue
			}
			w.mu.Lock()
			w.all = append(w.all, near, there)
			w.mu.Unlock()
			go func() { io.Copy(there, near); there.Close() }()
			go func() { io.Copy(near, there); near.Close() }()
		}
	}()
	return w
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all {
		c.Close()
	}
}

// eventually waits for what happens on the other side.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s has not happened", what)
}

func TestConnectionIsCut(t *testing.T) {
	f := serve(t)
	w := wireTo(t, f)
	rt, err := remote.New(t.Context(), remote.Options{Endpoints: []remote.Endpoint{{URL: w.url}}, APIKey: remote.NewSecret(f.key)})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	c := create(t, rt, small)
	running, err := c.Start(t.Context(), shell("echo; sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	w.cut()
	_, err = running.Wait()
	var lost *remote.LostError
	if !errors.As(err, &lost) || !errors.Is(err, syscall.EAGAIN) || lost.Server != w.url {
		t.Errorf("the program ended with %v, want a connection that was lost and may be tried again", err)
	}
	eventually(t, "the end of the container", func() bool { return len(f.runtime.manager.Alive()) == 0 })
	if _, err := c.Start(t.Context(), shell("true")); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("another start: %v", err)
	}
	if _, err := (must(c.Files(sandbox.WorkspaceDir))).Usage(); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("usage: %v", err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Errorf("delete: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// deadURL is where nobody listens.
func deadURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestDeadServerIsPassedOver(t *testing.T) {
	f, dead := serve(t), deadURL(t)
	rt := opened(t, remote.Options{Endpoints: []remote.Endpoint{{URL: dead}}}, f)
	for range 3 {
		mustPrint(t, create(t, rt, small), shell("echo hi"), "hi\n")
	}
	f.Drain()
	_, err := rt.Create(t.Context(), small)
	if !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), dead+": no answer") || !strings.Contains(err.Error(), f.url+": this server is shutting down") {
		t.Errorf("none left: %v", err)
	}
}

func TestFullServerIsPassedOver(t *testing.T) {
	full, free := serve(t, keyless), serve(t, keyless)
	for range 200 { // it has so many places
		if _, err := full.Ledger.Acquire(t.Context(), demand("", 1)); err != nil {
			t.Fatal(err)
		}
	}
	full.key, free.key = "", ""
	rt := opened(t, remote.Options{}, full)
	if _, err := rt.Create(t.Context(), small); !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "every place for a run is taken") {
		t.Errorf("a full server: %v", err)
	}
	both := opened(t, remote.Options{}, full, free)
	for range 3 {
		mustPrint(t, create(t, both, small), shell("echo hi"), "hi\n")
	}
}

func TestRegionIsNeverLeft(t *testing.T) {
	eu, us := serve(t, keyless), serve(t, keyless)
	reached := false
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached = true; us.ServeHTTP(w, r) }))
	defer front.Close()
	endpoints := []remote.Endpoint{{URL: front.URL, Region: "us"}, {URL: eu.url, Region: "eu"}, {URL: front.URL}}
	rt := opened(t, remote.Options{Endpoints: endpoints, Region: "eu"})
	mustPrint(t, create(t, rt, small), shell("echo hi"), "hi\n")
	eu.Drain()
	if _, err := rt.Create(t.Context(), small); err == nil || strings.Contains(err.Error(), front.URL) {
		t.Errorf("with the region's server gone: %v", err)
	}
	if reached {
		t.Error("a server of another region was asked")
	}
	nowhere := opened(t, remote.Options{Endpoints: endpoints, Region: "asia"})
	if _, err := nowhere.Create(t.Context(), small); err == nil || !strings.Contains(err.Error(), "None of the servers is in the region asia") {
		t.Errorf("a region without servers: %v", err)
	}
}

func TestDrain(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	c := create(t, rt, small)
	f.Drain()
	mustPrint(t, c, shell("echo goes on"), "goes on\n")
	if _, err := rt.Create(t.Context(), small); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a new container while draining: %v", err)
	}
	running, err := c.Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	f.EndRuns()
	if _, err := running.Wait(); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("the program ended with %v", err)
	}
	f.Wait(t.Context())
}

func TestWhoMayHaveContainers(t *testing.T) {
	f := serve(t)
	for name, key := range map[string]string{"no key": "", "a wrong key": "sbx_nonsense", "a key without the scope": f.newKey(t)} {
		other := *f
		other.key = key
		rt := opened(t, remote.Options{}, &other)
		_, err := rt.Create(t.Context(), small)
		if err == nil || errors.Is(err, syscall.EAGAIN) || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := rt.Image(t.Context(), sandbox.Spec{Language: "python"}); err == nil {
			t.Errorf("%s was told the image", name)
		}
	}
}

// A server whose runtime is another one does not come round to itself.
func TestLoop(t *testing.T) {
	var first *far
	second := serve(t, func(o *server.Options) { o.Runtime = &late{func() *far { return first }, t, nil} })
	first = serve(t, func(o *server.Options) { o.Runtime = opened(t, remote.Options{}, second) })
	rt := opened(t, remote.Options{}, first)
	if _, err := rt.Create(t.Context(), small); err == nil || !strings.Contains(err.Error(), "come round") {
		t.Errorf("a loop: %v", err)
	}
}

// late is the runtime of a server that is not there yet.
type late struct {
	server func() *far
	t      *testing.T
	sandbox.Runtime
}

func (l *late) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	return opened(l.t, remote.Options{}, l.server()).Image(ctx, spec)
}
