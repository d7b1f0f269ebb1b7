package docker_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

// TestMain lets the test's own binary be the program of an image, which has nothing else.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "say-hello" {
		fmt.Println("hello from an image")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startRegistry starts one without a door, but for the repository private.
func startRegistry(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", *registryAddress)
	if err != nil {
		t.Fatal(err)
	}
	content := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" || strings.HasPrefix(r.URL.Path, "/v2/private/") {
			if user, password, _ := r.BasicAuth(); strings.HasPrefix(r.URL.Path, "/v2/private/") && (user != "u" || password != "p") {
				w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
				http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
				return
			}
		}
		content.ServeHTTP(w, r)
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// imageOfTest has the test's binary and some megabytes that nobody needs.
func imageOfTest(t *testing.T, arch string) v1.Image {
	t.Helper()
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range []string{"proc/", "dev/", "etc/", "tmp/"} {
		_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755})
	}
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "hello", Mode: 0o755, Size: int64(len(binary))})
	_, _ = w.Write(binary)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	program, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	ballast, err := random.Layer(5<<20, "application/vnd.docker.image.rootfs.diff.tar.gzip")
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, program, ballast)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config.OS, config.Architecture = "linux", arch
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	return img
}

// TestPull: an image that is not here is pulled from its registry, and a program of it
// runs; what cannot be pulled has a reason.
func TestPull(t *testing.T) {
	open(t, *image) // skips
	at := startRegistry(t)
	push := func(ref string, img v1.Image, opts ...remote.Option) string {
		t.Helper()
		parsed, err := name.ParseReference(at + "/" + ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(parsed, img, opts...); err != nil {
			t.Fatal(err)
		}
		return parsed.String()
	}
	ref := push("hello/world:1", imageOfTest(t, goruntime.GOARCH))
	foreign := push("hello/foreign:1", imageOfTest(t, map[string]string{"amd64": "arm64", "arm64": "amd64"}[goruntime.GOARCH]))
	removeImages(t, ref, foreign)

	var mu sync.Mutex
	var told []string
	rt, err := docker.New(t.Context(), docker.Options{Host: *host, Image: ref, Notify: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, line)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	got, err := rt.Image(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != ref || got.Digest == "" {
		t.Errorf("%+v", got)
	}
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Delete(t.Context())
	var out bytes.Buffer
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/hello", "say-hello"}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.Wait(); err != nil || out.String() != "hello from an image\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	mu.Lock()
	told = slices.Clone(told)
	mu.Unlock()
	if len(told) < 2 || told[0] != "pulling "+ref || told[len(told)-1] != "preparing the image "+ref {
		t.Errorf("told: %q", told)
	}
	for ref, want := range map[string]string{
		foreign:             "sandbox-run for " + goruntime.GOARCH,
		at + "/no/such:1":   "Check its name and tag",
		at + "/private/x:1": "docker login " + at,
		"No Such Name":      "An image is named as in",
		"127.0.0.1:1/x:1":   "cannot be reached",
	} {
		s := spec
		s.Image = ref
		var bad *sandbox.ImageError
		if _, err := rt.Create(t.Context(), s); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", ref, err, want)
		}
	}
}

// TestFullDisk: an engine whose disk is full says so, and what frees it.
func TestFullDisk(t *testing.T) {
	if *small == "" {
		t.Skip("no Docker engine with a small disk was named; make test-docker starts one")
	}
	at := startRegistry(t)
	big, err := random.Image(80<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(at + "/big:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, big); err != nil {
		t.Fatal(err)
	}
	rt, err := docker.New(t.Context(), docker.Options{Host: *small, Image: ref.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	_, err = rt.Create(t.Context(), spec)
	if bad := (*docker.EngineError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "docker system prune") {
		t.Error(err)
	}
}
