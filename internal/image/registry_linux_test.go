package image

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// server is a registry on this machine.
type server struct {
	host  string
	blobs atomic.Int64 // asked for
	// before may answer a request itself.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func newServer(t testing.TB) *server {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // nobody's credentials
	t.Setenv("HOME", t.TempDir())
	s := &server{}
	inner := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, 0)))
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			s.blobs.Add(1)
		}
		if f := s.before.Load(); f != nil && (*f)(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	s.host = strings.TrimPrefix(h.URL, "http://")
	return s
}

func (s *server) intercept(f func(http.ResponseWriter, *http.Request) bool) { s.before.Store(&f) }

// push puts an image or an index into the registry, and returns its name.
func (s *server) push(t testing.TB, ref string, what remote.Taggable) string {
	t.Helper()
	parsed := must[name.Reference](t)(name.ParseReference(s.host + "/" + ref))
	var err error
	switch what := what.(type) {
	case v1.Image:
		err = remote.Write(parsed, what)
	case v1.ImageIndex:
		err = remote.WriteIndex(parsed, what)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Name()
}

// TestPull pulls by tag and by digest, and fetches nothing twice.
func TestPull(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "team/sample:1", sample(t))
	s := newStore(t)
	img, err := s.Pull(t.Context(), ref)
	if err != nil || !slices.Equal(img.Names, []string{ref}) {
		t.Fatalf("pulled %+v, %v", img, err)
	}
	wantSample(t, s, ref)
	asked := r.blobs.Load()
	for _, other := range []string{ref, r.host + "/team/sample@" + img.Digest, r.push(t, "team/sample:2", sample(t))} {
		again, err := s.Pull(t.Context(), other)
		if err != nil || again.Digest != img.Digest {
			t.Fatalf("pulled %+v, %v", again, err)
		}
		wantSample(t, s, other)
	}
	if r.blobs.Load() != asked {
		t.Errorf("%d blobs were fetched again", r.blobs.Load()-asked)
	}
	if left := leftovers(t, s); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

// TestPullMovesTheTag: a newer image takes the name, and the old one is garbage.
func TestPullMovesTheTag(t *testing.T) {
	r := newServer(t)
	s := newStore(t)
	ref := r.push(t, "a:1", imageOf(t, archive(t, file("f", "old"))))
	old := must[Image](t)(s.Pull(t.Context(), ref))
	held := lease(t, s, ref)
	r.push(t, "a:1", imageOf(t, archive(t, file("f", "new"))))
	if img := must[Image](t)(s.Pull(t.Context(), ref)); img.Digest == old.Digest {
		t.Fatal("the old image was kept")
	}
	if removed, err := s.GC(t.Context()); len(removed) != 0 || err != nil {
		t.Errorf("an image in use was removed: %v, %v", removed, err)
	}
	if got := listing(t, held.Root())["f"]; got != "-rw-r--r-- old" {
		t.Errorf("the image in use has become %q", got)
	}
	held.Close()
	if removed, err := s.GC(t.Context()); len(removed) != 1 || removed[0].Digest != old.Digest || err != nil {
		t.Errorf("removed %v, %v", removed, err)
	}
	if got := listing(t, lease(t, s, ref).Root())["f"]; got != "-rw-r--r-- new" {
		t.Errorf("the new image has %q", got)
	}
}

// TestPullIndex: this machine's image is taken, the plainest; or what there is is
// listed.
func TestPullIndex(t *testing.T) {
	r := newServer(t)
	index := func(platforms ...string) v1.ImageIndex {
		idx := v1.ImageIndex(empty.Index)
		for _, p := range platforms {
			platform := must[*v1.Platform](t)(v1.ParsePlatform(p))
			arch := platform.Architecture
			img := configured(t, arch, layerOf(t, archive(t, file("which", p))))
			idx = mutate.AppendManifests(idx, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
		}
		return idx
	}
	here := "linux/" + runtime.GOARCH
	s := newStore(t)
	ref := r.push(t, "a:1", index("linux/s390x", here+"/v9", here, "windows/"+runtime.GOARCH, "unknown/unknown"))
	if _, err := s.Pull(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, lease(t, s, ref).Root())["which"]; got != "-rw-r--r-- "+here {
		t.Errorf("pulled %q", got)
	}
	_, err := s.Pull(t.Context(), r.push(t, "a:2", index("windows/amd64", "linux/s390x", "linux/arm/v7", "unknown/unknown")))
	wantError(t, err, ErrPlatform, here, "linux/arm/v7, linux/s390x, windows/amd64", "a:2")
	_, err = s.Pull(t.Context(), r.push(t, "a:3", configured(t, "s390x", layerOf(t, archive(t, file("f", "x"))))))
	wantError(t, err, ErrPlatform, "linux/s390x", here)
}

// TestPullTransferBreaksOff: a layer whose transfer breaks off is asked for
// again, and not for ever.
func TestPullTransferBreaksOff(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "a:1", sample(t))
	layer := must[[]v1.Layer](t)(sample(t).Layers())[0]
	digest := must[v1.Hash](t)(layer.Digest()).String()
	var broken atomic.Int64
	cut := func(times int64) func(w http.ResponseWriter, r *http.Request) bool {
		broken.Store(0)
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, digest) || r.Method != http.MethodGet || broken.Add(1) > times {
				return false
			}
			w.Header().Set("Content-Length", fmt.Sprint(must[int64](t)(layer.Size())))
			io.WriteString(w, "the beginning of it")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	s := newStore(t)
	r.intercept(cut(100))
	_, err := s.Pull(t.Context(), ref)
	wantError(t, err, ErrCorrupt, "broke off", "layer 1 of 2", digest)
	if images := must[[]Image](t)(s.List()); len(images) != 0 || len(leftovers(t, s)) != 0 || broken.Load() != attempts {
		t.Errorf("left %v, %v after %d attempts", images, leftovers(t, s), broken.Load())
	}
	r.intercept(cut(2))
	if _, err := s.Pull(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	wantSample(t, s, ref)
}

// endless never stops sending.
type endless struct{ sent int }

func (e *endless) blob(context.Context, v1.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(e), nil
}

func (e *endless) Read(p []byte) (int, error) {
	if e.sent += len(p); e.sent > 1<<20 {
		return 0, errors.New("it is still read")
	}
	return len(p), nil
}

// TestPullEndless: nobody listens to more than was promised.
func TestPullEndless(t *testing.T) {
	var got limitedBuffer
	err := fetchBlob(t.Context(), &endless{}, v1.Descriptor{Digest: sha256Of(nil), Size: 100}, &got, nil)
	wantError(t, err, ErrCorrupt, "more than the promised 100 bytes")
	if len(got.data) > 101 {
		t.Errorf("%d bytes were written", len(got.data))
	}
}

// TestPullLies: a registry that sends something else is told so.
func TestPullLies(t *testing.T) {
	r := newServer(t)
	img := sample(t)
	ref := r.push(t, "a:1", img)
	other := archive(t, file("evil", "x"))
	r.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, must[v1.Hash](t)(must[[]v1.Layer](t)(img.Layers())[1].Digest()).String()) {
			w.Write(other)
			return true
		}
		return false
	})
	_, err := newStore(t).Pull(t.Context(), ref)
	wantError(t, err, ErrCorrupt, "layer 2 of 2")
	r.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Write(must[[]byte](t)(img.RawManifest())[1:])
			return true
		}
		return false
	})
	_, err = newStore(t).Pull(t.Context(), r.host+"/a@"+must[v1.Hash](t)(img.Digest()).String())
	if err == nil || !strings.Contains(err.Error(), "does not match requested digest") {
		t.Errorf("a manifest with another digest: %v", err)
	}
	_, err = newStore(t).Pull(t.Context(), ref)
	wantError(t, err, ErrCorrupt, "manifest")
}

// TestPullWithCredentials: those that docker login has stored, for this registry.
func TestPullWithCredentials(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "a:1", sample(t))
	r.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		if user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	_, err := newStore(t).Pull(t.Context(), ref)
	if err == nil || !strings.Contains(err.Error(), "docker login "+r.host) {
		t.Fatalf("without credentials: %v", err)
	}
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.host, base64.StdEncoding.EncodeToString([]byte("me:secret")))
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newStore(t).Pull(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

// TestPullErrors are sentences.
func TestPullErrors(t *testing.T) {
	r := newServer(t)
	s := newStore(t)
	_, err := s.Pull(t.Context(), r.host+"/no/such:1")
	wantError(t, err, ErrNotFound, "image "+r.host+"/no/such:1: ", r.host+" has no such image")
	for _, bad := range []string{"", "A", "a b", "a:", "a@sha256:12"} {
		if _, err := s.Pull(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "names no image") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Pull(ctx, r.push(t, "a:1", sample(t)))
	wantError(t, err, context.Canceled)
}

// TestOnlyHTTPS: http is for registries on this machine, and no answer of theirs
// leads elsewhere over it.
func TestOnlyHTTPS(t *testing.T) {
	sent := roundTrip(func(*http.Request) (*http.Response, error) { return nil, errSent })
	for _, c := range []struct {
		registry, url string
		want          bool
	}{
		{"localhost:5000", "http://localhost:5000/v2/", true},
		{"127.0.0.1:5000", "http://127.0.0.1:5000/v2/", true},
		{"127.0.0.1", "http://127.0.0.1/v2/", true},
		{"[::1]:5000", "http://[::1]:5000/v2/", true},
		{"localhost:5000", "http://10.0.0.1/blob", false},
		{"10.0.0.1:5000", "http://10.0.0.1:5000/v2/", false},
		{"192.168.1.1", "http://192.168.1.1/v2/", false},
		{"10.0.0.1:5000", "https://10.0.0.1:5000/v2/", true},
		{"example.org", "http://example.org/v2/", false},
		{"example.org", "http://localhost:8080/metadata", false},
		{"example.org", "https://example.org/v2/", true},
		{"localhost.example.org", "http://localhost.example.org/v2/", false},
		{"127.0.0.1.example.org", "http://127.0.0.1.example.org/v2/", false},
	} {
		req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil))
		guard := &onlyHTTPS{sent, isLoopback(c.registry)}
		_, err := guard.RoundTrip(req) //nolint:bodyclose // there never is one
		if errors.Is(err, errSent) != c.want {
			t.Errorf("the registry %s asks for %s: %v; want it sent: %v", c.registry, c.url, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing is sent; what would be sent is refused all the same
	_, err := newStore(t).Pull(ctx, "10.255.255.1:1/a:1")
	wantError(t, err, context.Canceled, "10.255.255.1:1 is asked for over http")
}

var errSent = errors.New("sent")

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPullAtOnce: processes that pull the same image at once download it once.
// Each store has locks of its own, as each process has.
func TestPullAtOnce(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "a:1", sample(t))
	dir := filepath.Join(t.TempDir(), "images")
	var wg sync.WaitGroup
	for range 5 {
		s := openStore(t, dir, Options{})
		wg.Go(func() {
			if _, err := s.Pull(t.Context(), ref); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := r.blobs.Load(); got != 3 { // two layers, one configuration
		t.Errorf("%d blobs were asked for", got)
	}
	wantSample(t, openStore(t, dir, Options{}), ref)
}

// TestProgress: each step begins at nothing and ends at all of it.
func TestProgress(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "a:1", sample(t))
	var all []Progress
	s := openStore(t, t.TempDir(), Options{Progress: func(p Progress) { all = append(all, p) }})
	if _, err := s.Pull(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	for _, step := range []Step{Download, Unpack} {
		of := slices.DeleteFunc(slices.Clone(all), func(p Progress) bool { return p.Step != step })
		if len(of) < 2 || of[0].Done != 0 || of[len(of)-1].Done != of[0].Total || of[0].Total == 0 || of[0].Image != ref {
			t.Errorf("%s: %+v", step, of)
		}
	}
}
