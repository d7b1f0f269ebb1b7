package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

// engineClient talks to the engine past the runtime.
func engineClient(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(client.WithHost(*host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// commit makes an image of the tests' one, with a directory of the sandbox's user that
// has a file.
func commit(t *testing.T, engine *client.Client, name, dir, content string, changes ...string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o777, Uid: sandbox.UserID, Gid: sandbox.UserID})
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: dir + "/file", Mode: 0o666, Uid: sandbox.UserID, Gid: sandbox.UserID, Size: int64(len(content))})
	_, _ = w.Write([]byte(content))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	commitArchive(t, engine, name, &b, changes...)
}

// commitArchive makes an image of the tests' one and an archive.
func commitArchive(t *testing.T, engine *client.Client, name string, archive io.Reader, changes ...string) {
	t.Helper()
	made, err := engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: *image, Cmd: []string{"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.ContainerRemove(t.Context(), made.ID, client.ContainerRemoveOptions{Force: true})
	if _, err := engine.CopyToContainer(t.Context(), made.ID, client.CopyToContainerOptions{DestinationPath: "/", Content: archive}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.ContainerCommit(t.Context(), made.ID, client.ContainerCommitOptions{Reference: name, Changes: changes, Config: &container.Config{}}); err != nil {
		t.Fatal(err)
	}
}

// TestImageIsTheOneThatWasTold: between the question for an image and the container its
// name may come to mean another one.
func TestImageIsTheOneThatWasTold(t *testing.T) {
	const name = "sandbox-run-test-moving:1"
	rt, engine := open(t, name), engineClient(t)
	removeImages(t, name)
	commit(t, engine, name, "which", "the first")
	first, err := rt.Image(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	told := spec
	told.Digest = first.Digest
	if got := run(t, rt, told, "cat /which/file"); got != "the first" {
		t.Errorf("%q", got)
	}
	commit(t, engine, name, "which", "the second")
	second, err := rt.Image(t.Context(), spec)
	if err != nil || second.Digest == first.Digest {
		t.Fatalf("the name still means %s, %v", second.Digest, err)
	}
	if got := run(t, rt, told, "cat /which/file"); got != "the first" {
		t.Errorf("the image was told before, and the container has %q", got)
	}
	if got := run(t, rt, spec, "cat /which/file"); got != "the second" {
		t.Errorf("by its name: %q", got)
	}
	told.Digest = "sha256:" + strings.Repeat("0", 64)
	_, err = rt.Create(t.Context(), told)
	if !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "cannot use the image "+name+": what it was a moment ago") {
		t.Errorf("an image that is gone: %v", err)
	}
}

// TestImageVolumes: what an image declares to be a volume would have no limit of size, so
// that it is empty and nothing to write to; and none is left.
func TestImageVolumes(t *testing.T) {
	const name = "sandbox-run-test-volumes:1"
	rt, engine := open(t, name), engineClient(t)
	removeImages(t, name)
	commit(t, engine, name, "data", "of the image\n", "VOLUME /data", "VOLUME /workspace")
	volumes := func() int {
		list, err := engine.VolumeList(t.Context(), client.VolumeListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	before := volumes()
	for range 2 { // the first prepares the image
		if got := run(t, rt, spec, "exec 2>&1; ls /data; echo y >/workspace/y && cat /workspace/y; echo x >/data/new"); !strings.HasPrefix(got, "y\n") || !strings.Contains(got, "/data/new: Read-only file system") {
			t.Errorf("%q", got)
		}
	}
	if after := volumes(); after != before {
		t.Errorf("%d volumes, %d before", after, before)
	}
}

// TestLinkedUsers: an image whose list of users is a link has ours in its place.
func TestLinkedUsers(t *testing.T) {
	const name = "sandbox-run-test-linked:1"
	rt, engine := open(t, name), engineClient(t)
	removeImages(t, name)
	commitArchive(t, engine, name, archiveOf(t, "etc/passwd", "->/lists/passwd", "etc/group", "->/no/such", "lists/passwd", "other:x:1000:1000::/:/bin/sh\n"))
	if got := run(t, rt, spec, "id -un; id -gn; ls /lists/passwd"); got != "sandbox\nsandbox\n/lists/passwd\n" {
		t.Errorf("%q", got)
	}
}

// TestCreateCancelled: whenever its caller goes away, Create says so and leaves nothing.
func TestCreateCancelled(t *testing.T) {
	rt, engine := open(t, *image), engineClient(t)
	left := func() int {
		list, err := engine.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "sandbox-run")})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	before := left()
	for wait := time.Duration(0); ; wait += wait/4 + 2*time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		c, err := rt.Create(ctx, spec)
		cancel()
		if after := left(); err != nil && after != before {
			t.Fatalf("cancelled after %v: %d containers, %d before", wait, after, before)
		}
		if err == nil {
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("cancelled after %v: %v", wait, err)
		}
	}
}

// front is an address of the engine where served is told of each request that was
// answered.
func front(t *testing.T, served func(*http.Request)) string {
	t.Helper()
	open(t, *image) // skips
	socket, _ := strings.CutPrefix(*host, "unix://")
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxy.ServeHTTP(w, r)
		if r.Header.Get("Upgrade") == "" { // it has not become a stream
			_ = http.NewResponseController(w).Flush()
		}
		served(r)
	}))
	t.Cleanup(s.Close)
	return "tcp://" + s.Listener.Addr().String()
}

// TestInspects: the engine is asked for an image once where it is told, and once where a
// container is made of it.
func TestInspects(t *testing.T) {
	var inspects atomic.Int64
	at := front(t, func(r *http.Request) {
		if strings.Contains(r.URL.Path, "/images/") && path.Base(r.URL.Path) == "json" {
			inspects.Add(1)
		}
	})
	rt, err := docker.New(t.Context(), docker.Options{Host: at, Image: *image, Runtime: *runtime})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for range 2 { // the first may have to prepare it
		inspects.Store(0)
		img, err := rt.Image(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		s := spec
		s.Digest = img.Digest
		run(t, rt, s, "true")
	}
	if n := inspects.Load(); n != 2 {
		t.Errorf("%d inspections of images, want 2", n)
	}
}

// TestCancelledWhileInitStarts: a connection that is closed because the caller has gone is
// no fault of the engine's.
func TestCancelledWhileInitStarts(t *testing.T) {
	var cancel atomic.Pointer[context.CancelFunc]
	at := front(t, func(r *http.Request) {
		if f := cancel.Load(); f != nil && path.Base(r.URL.Path) == "start" {
			go (*f)()
		}
	})
	rt, err := docker.New(t.Context(), docker.Options{Host: at, Image: *image, Runtime: *runtime})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for range 5 { // init may be quicker, or the answer slower
		ctx, stop := context.WithCancel(t.Context())
		cancel.Store(&stop)
		c, err := rt.Create(ctx, spec)
		if err == nil {
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		stop()
	}
}
