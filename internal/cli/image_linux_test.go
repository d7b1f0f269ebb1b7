package cli

import (
	"archive/tar"
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandbox-run/sandbox-run/internal/image"
)

// TestImages plays sessions with images, with two registries of this machine: the
// one at $REGISTRY is open, that at $PRIVATE wants to know who calls.
func TestImages(t *testing.T) {
	images := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, 0)))
	open := serve(t, images)
	private := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	closed := serve(t, nil)
	for tag, img := range map[string]v1.Image{
		"team/one:1": imageOf(t, runtime.GOARCH, "one"), "team/two:1": imageOf(t, runtime.GOARCH, "two"),
		"team/foreign:1": imageOf(t, "s390x", "foreign"),
	} {
		ref, err := name.ParseReference(open + "/" + tag)
		if err == nil {
			err = remote.Write(ref, img)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/image",
		Deadline: time.Now().Add(2 * time.Minute),
		Setup: func(env *testscript.Env) error {
			for _, kv := range [][2]string{
				{"HOME", env.WorkDir}, {"DOCKER_CONFIG", filepath.Join(env.WorkDir, "docker")},
				{"SANDBOX_DATA_DIR", filepath.Join(env.WorkDir, "data")},
				{"REGISTRY", open}, {"PRIVATE", private}, {"NOBODY", closed},
			} {
				env.Setenv(kv[0], kv[1])
			}
			writeBundles(t, env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "waitfor": waitFor, "interrupt": interrupt},
	})
}

// serve starts a server, and returns its host and port. Where there is no handler,
// nobody listens any more.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	if h == nil {
		s.Close()
	} else {
		t.Cleanup(s.Close)
	}
	return strings.TrimPrefix(s.URL, "http://")
}

// imageOf makes an image of one file.
func imageOf(t *testing.T, arch, content string) v1.Image {
	t.Helper()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archiveOf(t, content))), nil
	})
	var img v1.Image
	if err == nil {
		img, err = mutate.AppendLayers(empty.Image, layer)
	}
	if err == nil {
		img, err = mutate.ConfigFile(img, &v1.ConfigFile{
			OS: "linux", Architecture: arch, Config: v1.Config{Env: []string{"PATH=/bin"}},
			RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diffID(t, layer)}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func diffID(t *testing.T, layer v1.Layer) v1.Hash {
	t.Helper()
	id, err := layer.DiffID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// archiveOf is an archive of a file, a folder and a device.
func archiveOf(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "bin/tool", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))},
		{Name: "dev/null", Typeflag: tar.TypeChar, Mode: 0o666, Devmajor: 1, Devminor: 3},
	} {
		err := w.WriteHeader(h)
		if err == nil && h.Size > 0 {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// writeBundles writes what image import takes: an OCI layout without a name, an
// archive of docker save, a root file system, and some that it does not.
func writeBundles(t *testing.T, dir string) {
	t.Helper()
	path, err := layout.Write(filepath.Join(dir, "layout"), empty.Index)
	if err == nil {
		err = path.AppendImage(imageOf(t, runtime.GOARCH, "layout"))
	}
	var saved bytes.Buffer
	if err == nil {
		err = tarball.Write(name.MustParseReference("team/saved:1"), imageOf(t, runtime.GOARCH, "saved"), &saved)
	}
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		"saved.tar": saved.Bytes(), "rootfs.tar": archiveOf(t, "rootfs"), "empty.tar": nil, "broken.tar": []byte("no archive at all"),
		"cut.tar": archiveOf(t, "rootfs")[:1100],
	} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// On a terminal a pull says how far it is, in a line that is gone in the end.
func TestPullOnTerminal(t *testing.T) {
	images := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, 0)))
	host := serve(t, images)
	ref, err := name.ParseReference(host + "/team/one:1")
	if err == nil {
		err = remote.Write(ref, imageOf(t, runtime.GOARCH, "one"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SANDBOX_DATA_DIR", filepath.Join(t.TempDir(), "data"))
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	out := onTerminal(t, "", "image", "pull", ref.Name())
	if !strings.Contains(out, eraseLine+ref.Name()+": downloading ") || !strings.Contains(out, ": unpacking ") || !strings.Contains(out, "(100 %)") {
		t.Errorf("no progress in %q", out)
	}
	if _, last, _ := strings.Cut(out, "(100 %)"+eraseLine+ref.Name()+"  "); !strings.HasSuffix(last, " left out (--json says what)\r\n") {
		t.Errorf("the progress was not erased before the result: %q", out)
	}
}

// A line that is longer than the terminal could not be erased.
func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		now   image.Progress
		width int
		want  string
	}{
		{image.Progress{Image: "python:3.12", Step: image.Download, Done: 1 << 20, Total: 4 << 20}, 79, "python:3.12: downloading 1 MiB of 4 MiB (25 %)"},
		{image.Progress{Image: "a\x1b[2Jb", Step: image.Unpack, Done: 5}, 79, `a\x1b[2Jb: unpacking 5 B`},
		{image.Progress{Image: "registry.example/team/python:3.12", Step: image.Unpack, Done: 5}, 24, "thon:3.12: unpacking 5 B"},
		{image.Progress{Image: "python", Step: image.Unpack, Done: 5}, 3, ": unpacking 5 B"},
	} {
		if got := progressText(c.now, c.width); got != c.want {
			t.Errorf("%+v in %d columns is %q, want %q", c.now, c.width, got, c.want)
		}
	}
}

func TestAgoText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 59 * time.Minute: "59 minutes ago",
		time.Hour: "1 hour ago", 47 * time.Hour: "1 day ago", 400 * 24 * time.Hour: "400 days ago",
	} {
		if got := agoText(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
