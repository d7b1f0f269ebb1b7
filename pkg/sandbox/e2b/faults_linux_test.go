package e2b_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
)

type (
	httpWriter  = http.ResponseWriter
	httpRequest = http.Request
	httpHandler = http.Handler
)

var errNotExist, errPermission = fs.ErrNotExist, fs.ErrPermission

// discard lets a handler answer nobody, and tells that it does.
type discard struct {
	w     http.ResponseWriter
	wrote chan<- struct{} // may be nil
}

func (discard) Header() http.Header { return http.Header{} }
func (discard) WriteHeader(int)     {}

func (d discard) Write(b []byte) (int, error) {
	select {
	case d.wrote <- struct{}{}:
	default:
	}
	return len(b), nil
}

func TestProbe(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{})
	defer rt.Close()
	s.Fail(e2btest.Status(401, `{"code":401,"message":"no"}`))
	if _, err := rt.Probe(t.Context()); !errors.As(err, new(*e2b.KeyError)) {
		t.Error(err)
	}
	s.Heal()
	caps, err := rt.Probe(t.Context())
	if err != nil || caps.Runtime != "e2b" || !caps.TTY || caps.WorkspaceOnDisk || !slices.Equal(caps.Levels, []sandbox.Level{sandbox.LevelFull}) {
		t.Errorf("%+v %v", caps, err)
	}
	before := len(s.Requests())
	if _, err := rt.Probe(t.Context()); err != nil || len(s.Requests()) != before {
		t.Errorf("it was asked again: %v", err)
	}
}

// Create fails whole: whatever step fails, no sandbox is left.
func TestCreateLeavesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		fault e2btest.Fault
		as    any
	}{
		"key":                {e2btest.On("POST", "/sandboxes", 0, e2btest.Status(403, `{"code":403,"message":"no"}`)), new(*e2b.KeyError)},
		"quota":              {e2btest.On("POST", "/sandboxes", 0, e2btest.Status(429, `{"code":429,"message":"max sandboxes"}`, "Retry-After", "9")), new(*e2b.QuotaError)},
		"answer lost":        {e2btest.On("POST", "/sandboxes", 1, e2btest.Cut(20)), new(*e2b.TransientError)},
		"detail fails":       {e2btest.On("GET", "/sandboxes/", 1, e2btest.Status(503, "")), new(*e2b.TransientError)},
		"set-up cut":         {e2btest.On("POST", "/process.Process/Start", 1, e2btest.Cut(60)), new(*e2b.TransientError)},
		"set-up garbage":     {e2btest.On("POST", "/process.Process/Start", 1, e2btest.Status(200, "<html>")), new(*e2b.TransientError)},
		"set-up unavailable": {e2btest.On("POST", "/process.Process/Start", 1, e2btest.Status(503, `{"code":"unavailable","message":"asleep"}`)), new(*e2b.TransientError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := e2btest.Start(t)
			rt := open(t, s, e2b.Options{})
			s.Fail(tc.fault)
			if _, err := rt.Create(t.Context(), small); !errors.As(err, tc.as) {
				t.Errorf("error %v, want %T", err, tc.as)
			}
			if left := s.Alive(); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{Template: "no-such-template"})
	defer rt.Close()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(t.TempDir(), "big")
	if err := errors.Join(os.WriteFile(big, nil, 0o600), os.Truncate(big, 65<<20)); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*sandbox.Spec){
		func(s *sandbox.Spec) { s.Level = sandbox.LevelNone },
		func(s *sandbox.Spec) { s.Level = sandbox.LevelRestricted },
		func(s *sandbox.Spec) { s.WorkspaceOnDisk = true },
		func(s *sandbox.Spec) { s.Network = sandbox.NetworkPolicy{AllowDNS: true} },
		func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: dir, Target: "/x"}} },
		func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: big}} },
	} {
		spec := small
		change(&spec)
		if _, err := rt.Create(t.Context(), spec); !unsupported(err) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	spec := small
	if _, err := rt.Create(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "Template 'no-such-template' not found") {
		t.Error(err)
	}
	spec.Disk = sandbox.DiskLimit{}
	if _, err := rt.Create(t.Context(), spec); err == nil || unsupported(err) {
		t.Error(err)
	}
}

// A process whose stream breaks ends with an error that may be gone at the next
// try, nothing of it goes on, and the container works on.
func TestBrokenStreams(t *testing.T) {
	for name, fault := range map[string]e2btest.Fault{
		"cut":     e2btest.Cut(600),
		"garbage": e2btest.Status(200, strings.Repeat("garbage", 100)),
		"empty":   e2btest.Status(200, ""),
		"refused": e2btest.Status(429, `{"code":"resource_exhausted","message":"slow down"}`, "Retry-After", "1"),
		"no end":  e2btest.Status(200, "\x02\x00\x00\x00\x02{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, c := start(t, small)
			s.Fail(e2btest.On("POST", "/process.Process/Start", 1, fault))
			_, err := run(t, c, shell("while :; do echo output; done"))
			if !errors.Is(err, syscall.EAGAIN) {
				t.Errorf("error %v", err)
			}
			mustPrint(t, c, "set -- /proc/[0-9]*; echo $#", "1\n")
		})
	}
}

// begun sends what a program's stream begins with, and returns what sends more.
func begun(w httpWriter) (send func(message string)) {
	send = func(message string) {
		_, _ = w.Write(append([]byte{0, 0, 0, 0, byte(len(message))}, message...))
		_ = http.NewResponseController(w).Flush()
	}
	send(`{"event":{"start":{"pid":4000000}}}`)
	send(`{"event":{"data":{"stderr":"Kwo="}}}`)
	return send
}

// A stream that goes on to carry output when its program was killed is cut off as well.
func TestOutputWithoutEnd(t *testing.T) {
	s, rt, c := start(t, small)
	e2b.SetLate(rt, 200*time.Millisecond)
	s.Fail(e2btest.On("POST", "/process.Process/Start", 1, func(w httpWriter, r *httpRequest, _ httpHandler) bool {
		send := begun(w)
		for r.Context().Err() == nil {
			send(`{"event":{"data":{"stdout":"Kwo="}}}`)
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}))
	p := shell("sleep 1000")
	p.Stdout = io.Discard
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := running.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := running.Wait(); !errors.As(err, new(*e2b.TransientError)) || !strings.Contains(err.Error(), "goes on") {
		t.Errorf("error %v", err)
	}
}

// A stream that falls silent, and one that goes on for ever behind the end of
// everything, are both cut off.
func TestStreamsWithoutEnd(t *testing.T) {
	s, rt, c := start(t, small)
	forever := func(w httpWriter, r *httpRequest, _ httpHandler) bool {
		send := begun(w)
		for r.Context().Err() == nil {
			send(`{"event":{"keepalive":{}}}`)
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	s.Fail(e2btest.On("POST", "/process.Process/Start", 1, forever))
	if _, err := run(t, c, shell("true")); !errors.As(err, new(*e2b.TransientError)) || !strings.Contains(err.Error(), "goes on") {
		t.Errorf("error %v", err)
	}
	e2b.SetIdle(rt, 200*time.Millisecond)
	if _, err := run(t, c, shell("sleep 1000")); !errors.As(err, new(*e2b.TransientError)) || !strings.Contains(err.Error(), "silent") {
		t.Errorf("error %v", err)
	}
	mustPrint(t, c, "set -- /proc/[0-9]*; echo $#", "1\n")
}

// The watcher may fail: then the program's own stream is all there is.
func TestWithoutWatcher(t *testing.T) {
	s, _, c := start(t, small, func(s *e2btest.Server) { s.EndsAtOnce = true })
	refused := make(chan struct{}, 2)
	s.Fail(e2btest.On("POST", "/process.Process/Start", 0, e2btest.Saying(e2b.WatchScript, func(w httpWriter, r *httpRequest, next httpHandler) bool {
		refused <- struct{}{}
		return e2btest.Status(503, "")(w, r, next)
	})))
	for range 2 {
		var out buffer
		in, to := io.Pipe()
		p := shell("cat")
		p.Stdin, p.Stdout = in, &out
		running, err := c.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		<-refused // while the program waits: not even its end overtakes that
		if _, err := io.WriteString(to, "read"); err != nil {
			t.Error(err)
		}
		to.Close()
		if exit, err := running.Wait(); err != nil || exit.Code != 0 || out.String() != "read" {
			t.Errorf("%q %+v %v", out.String(), exit, err)
		}
	}
}

// A service that fails once when a program has ended costs nobody the sandbox.
func TestSweepIsTriedAgain(t *testing.T) {
	s, _, c := start(t, small)
	for _, fault := range []e2btest.Fault{e2btest.Status(503, ""), e2btest.Status(429, ""), e2btest.Cut(60)} {
		s.Fail(e2btest.On("POST", "/process.Process/Start", 0, e2btest.Saying(e2b.SweepScript, e2btest.Times(1, fault))))
		mustPrint(t, c, "sleep 1000 & echo over", "over\n")
		mustPrint(t, c, "set -- /proc/[0-9]*; echo $#", "1\n")
	}
}

// A sandbox that dies ends its program with an error that says so.
func TestSandboxDies(t *testing.T) {
	s, _, c := start(t, small)
	running, err := c.Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	s.Kill(c.ID())
	_, err = running.Wait()
	if !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "E2B") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Start(t.Context(), shell("true")); !errors.As(err, new(*e2b.GoneError)) {
		t.Errorf("error %v", err)
	}
	tree, err := c.Files("/workspace")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile("a", strings.NewReader("a"), 0o644); !errors.As(err, new(*e2b.GoneError)) {
		t.Errorf("error %v", err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// Where processes cannot be killed the sandbox is deleted.
func TestCondemned(t *testing.T) {
	s, _, c := start(t, small)
	running, err := c.Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(e2btest.On("POST", "/process.Process/Start", 0, e2btest.Status(503, "")))
	if err := running.Kill(); err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("kill: %v", err)
	}
	if _, err := running.Wait(); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("wait: %v", err)
	}
	if left := s.Alive(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := c.Start(t.Context(), shell("true")); err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("start: %v", err)
	}
}

// Deleting is tried again, and gives up with what to expect.
func TestDeleteIsTriedAgain(t *testing.T) {
	s, _, c := start(t, small)
	s.Fail(e2btest.On("DELETE", "/sandboxes/", 1, e2btest.Status(503, "")))
	s.Fail(e2btest.On("DELETE", "/sandboxes/", 1, e2btest.Status(502, "upstream connect error")))
	if err := c.Delete(t.Context()); err != nil || len(s.Alive()) > 0 {
		t.Errorf("%v, left %q", err, s.Alive())
	}
	rt := open(t, s, e2b.Options{})
	d, err := rt.Create(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(e2btest.On("DELETE", "/sandboxes/", 0, e2btest.Status(503, "")))
	if err := d.Delete(t.Context()); err == nil || !strings.Contains(err.Error(), "it ends by itself") {
		t.Error(err)
	}
}

// A program that was started although the answer was lost does not go on.
func TestStartIsLost(t *testing.T) {
	s, _, c := start(t, small)
	s.Fail(e2btest.On("POST", "/process.Process/Start", 0, e2btest.Saying(e2b.LaunchScript, e2btest.Times(1, func(w httpWriter, r *httpRequest, next httpHandler) bool {
		begun := make(chan struct{}, 1)
		go next.ServeHTTP(discard{w, begun}, r.WithContext(context.WithoutCancel(r.Context())))
		<-begun
		panic(http.ErrAbortHandler)
	}))))
	if _, err := c.Start(t.Context(), shell("sleep 1000")); !errors.As(err, new(*e2b.TransientError)) {
		t.Errorf("error %v", err)
	}
	mustPrint(t, c, "set -- /proc/[0-9]*; echo $#", "1\n")
}

// A sandbox that is made for somebody who has gone meanwhile is deleted, although no
// list had it when they went.
func TestCreatedTooLate(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{})
	defer rt.Close()
	listed := make(chan struct{}, 10)
	s.Fail(e2btest.On("GET", "/v2/sandboxes", 0, func(_ httpWriter, _ *httpRequest, _ httpHandler) bool {
		defer func() { listed <- struct{}{} }()
		return false
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	made := make(chan struct{})
	s.Fail(e2btest.On("POST", "/sandboxes", 1, func(w httpWriter, r *httpRequest, next httpHandler) bool {
		defer close(made)
		cancel()
		select {
		case <-listed:
		case <-time.After(500 * time.Millisecond):
		}
		next.ServeHTTP(w, r)
		return true
	}))
	if _, err := rt.Create(ctx, small); !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	<-made
	if left := s.Alive(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// What a process that was killed has left is found by the file that it does not
// lock any more, and what lives is left alone.
func TestReclaim(t *testing.T) {
	s := e2btest.Start(t)
	dir := t.TempDir()
	dead, alive := open(t, s, e2b.Options{RuntimeDir: dir}), open(t, s, e2b.Options{RuntimeDir: dir})
	defer alive.Close()
	for range 3 {
		if _, err := dead.Create(t.Context(), small); err != nil {
			t.Fatal(err)
		}
	}
	c, err := alive.Create(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := alive.Reclaim(t.Context()); n != 0 || err != nil || len(s.Alive()) != 4 {
		t.Fatalf("%d of the living were reclaimed: %v", n, err)
	}
	e2b.Die(dead)
	other := open(t, s, e2b.Options{RuntimeDir: dir})
	defer other.Close()
	if _, err := other.Create(t.Context(), small); err != nil { // which reclaims first
		t.Fatal(err)
	}
	if left := s.Alive(); len(left) != 2 || !slices.Contains(left, c.ID()) {
		t.Errorf("left: %q", left)
	}
	if n, err := other.Reclaim(t.Context()); n != 0 || err != nil {
		t.Errorf("%d again: %v", n, err)
	}
}

// A live container's sandbox is prolonged.
func TestKeepAlive(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{Timeout: 10 * time.Second})
	defer rt.Close()
	c, err := rt.Create(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return slices.Contains(s.Requests(), "POST /sandboxes/"+c.ID()+"/timeout") })
}

// The firewall gets what the policy says, and each process what it may.
func TestNetworkRequests(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{})
	defer rt.Close()
	spec := small
	spec.Network = sandbox.NetworkPolicy{Allow: []string{"example.org"}}
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Sandbox(c.ID())
	if b.Request["allow_internet_access"] != false || b.Request["secure"] != true || !slices.Equal(list(b.Network, "allowOut"), []any{"example.org"}) || !slices.Equal(list(b.Network, "denyOut"), []any{"0.0.0.0/0"}) || b.Network["allowPublicTraffic"] != false {
		t.Errorf("%+v", b.Request)
	}
	p := shell("true")
	p.Network = &sandbox.NetworkPolicy{}
	if _, err := run(t, c, p); err != nil || b.Network["allow_internet_access"] != false || list(b.Network, "allowOut") != nil {
		t.Errorf("%+v %v", b.Network, err)
	}
	p.Network = nil
	if _, err := run(t, c, p); err != nil || !slices.Equal(list(b.Network, "allowOut"), []any{"example.org"}) {
		t.Errorf("%+v %v", b.Network, err)
	}
	s.Fail(e2btest.On("PUT", "/network", 0, e2btest.Status(405, "")))
	p.Network = &sandbox.NetworkPolicy{}
	if _, err := run(t, c, p); err == nil || !strings.Contains(err.Error(), "a network for this process") {
		t.Error(err)
	}
}

func list(m map[string]any, key string) []any {
	l, _ := m[key].([]any)
	return l
}

// A key that the service does not know is in no error, whatever the service says.
func TestKeyIsInNoError(t *testing.T) {
	s := e2btest.Start(t)
	rt, err := e2b.New(e2b.Options{APIURL: s.URL, SandboxURL: s.URL, APIKey: e2b.NewSecret("e2b_wrongsecret")})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, fault := range []e2btest.Fault{nil, e2btest.Status(500, "you sent e2b_wrongsecret"), e2btest.Status(400, `{"code":400,"message":"e2b_wrongsecret"}`)} {
		s.Heal()
		if fault != nil {
			s.Fail(fault)
		}
		_, err := rt.Create(t.Context(), small)
		if err == nil || strings.Contains(err.Error(), "wrongsecret") {
			t.Error(err)
		}
	}
}

// Closing ends what runs, and nothing can be made afterwards.
func TestClose(t *testing.T) {
	s := e2btest.Start(t)
	rt := open(t, s, e2b.Options{RuntimeDir: t.TempDir()})
	c, err := rt.Create(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	running, err := c.Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if _, err := running.Wait(); err == nil {
		t.Error("a program ended well in a container that was deleted")
	}
	if _, err := rt.Create(context.WithoutCancel(t.Context()), small); err == nil {
		t.Error("a closed runtime made a container")
	}
	if left := s.Alive(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
