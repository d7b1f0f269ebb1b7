package rootfs

import (
	"archive/tar"
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// imageOf makes an image of links, by name and target, and of directories, which have
// no target.
func imageOf(t *testing.T, entries [][2]string) *Image {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, e := range entries {
		h := &tar.Header{Name: e[0], Linkname: e[1], Typeflag: tar.TypeSymlink, Mode: 0o777}
		if e[1] == "" {
			h.Typeflag, h.Mode = tar.TypeDir, 0o1750
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := image.Open(dir, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.ImportTree(t.Context(), "test", &archive, image.Config{}); err != nil {
		t.Fatal(err)
	}
	images := &Images{Dir: dir}
	t.Cleanup(func() { images.Close() })
	i, err := images.Acquire(t.Context(), "test", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// TestAcquireByDigest: a name that means another image by now leads to the one that was
// planned with, or nowhere.
func TestAcquireByDigest(t *testing.T) {
	dir := t.TempDir()
	store, err := image.Open(dir, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	add := func(entry string) {
		t.Helper()
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: entry, Typeflag: tar.TypeDir, Mode: 0o755}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := store.ImportTree(t.Context(), "test", &archive, image.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	images := &Images{Dir: dir}
	t.Cleanup(func() { images.Close() })
	add("first")
	planned, err := images.Look(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	add("second")
	i, err := images.Acquire(t.Context(), "test", planned.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(i.Dir(), "first")); err != nil || i.Info().Digest != planned.Digest {
		t.Errorf("the image is %+v: %v", i.Info(), err)
	}
	i.Close()
	if err := store.Remove(t.Context(), planned.Digest); err != nil {
		t.Fatal(err)
	}
	var problem *sandbox.ImageError
	if _, err := images.Acquire(t.Context(), "test", planned.Digest); !errors.As(err, &problem) {
		t.Errorf("a digest that is not here any more: %v", err)
	}
}

func TestPlace(t *testing.T) {
	i := imageOf(t, [][2]string{
		{"usr/lib", ""}, {"lib", "usr/lib"}, {"usr/abs", "/usr/lib"}, {"usr/up", "../../../../usr/lib"}, {"root", "/"}, {"updir", "usr/lib/../.."},
		{"chain", "lib"}, {"loop", "loop"}, {"ping", "pong"}, {"pong", "ping"}, {"dangling", "no/such"}, {"temp", "/tmp"}, {"devices", "usr/../dev"}, {"mine", ".sandbox-run"},
		{"usr/dev", ""}, {"usr/to", "dev"},
	})
	for target, want := range map[string]string{
		"/data": "data", "/data/deep/": "data/deep", "//usr//lib/x": "usr/lib/x", "/../../x": "x",
		"/lib": "usr/lib", "/lib/x/y": "usr/lib/x/y", "/usr/abs/x": "usr/lib/x", "/usr/up/x": "usr/lib/x", "/chain/x": "usr/lib/x",
		"/root/data": "data", "/root": "root", "/updir/data": "data", "/root/lib/x": "usr/lib/x",
		"/dangling/x": "no/such/x", "/loop/x": "loop/x", "/ping": "ping",
		"/tmp/x": "tmp/x", "/workspace": "workspace", "/temp/x": "temp/x", "/devices/null": "devices/null", "/mine/.empty": "mine/.empty", "/root/tmp": "root/tmp",
		"/usr/dev/x": "usr/dev/x", "/usr/to/x": "usr/dev/x",
	} {
		if got := i.Place(target); got != want {
			t.Errorf("%s is at %s, want %s", target, got, want)
		}
	}
	if got := (*Image)(nil).Place("/lib/../x"); got != "x" {
		t.Errorf("without an image: %s", got)
	}
	if got := i.Mode("usr/lib"); got != 0o750|os.ModeSticky {
		t.Errorf("mode %v", got)
	}
	for _, missing := range []string{"lib", "no/such"} {
		if got := i.Mode(missing); got != 0o755 {
			t.Errorf("mode %v of %s", got, missing)
		}
	}
}

// TestPull: an image that is not here is pulled if that was asked for, and whoever
// waits hears of it. What cannot be had says what to do.
func TestPull(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	push(t, host+"/here:1", runtime.GOARCH)
	push(t, host+"/foreign:1", "s390x")
	var lines []string
	pulls := &Images{Dir: t.TempDir(), Pull: true, Notify: func(line string) { lines = append(lines, line) }}
	defer pulls.Close()
	stays := &Images{Dir: pulls.Dir}
	defer stays.Close()
	for _, c := range []struct {
		images *Images
		ref    string
		want   string // of the error; empty is none
	}{
		{&Images{}, "here:1", "no directory for images"},
		{stays, host + "/here:1", "Run sandbox-run image pull " + host + "/here:1"},
		{pulls, host + "/here:1", ""},
		{stays, host + "/here:1", ""},
		{pulls, host + "/gone:1", "Is the name right?"},
		{pulls, host + "/foreign:1", "Choose one for linux/" + runtime.GOARCH},
		{pulls, "127.0.0.1:1/x:1", "Try again: sandbox-run image pull"},
		{&Images{Dir: "/proc/no/such"}, "x", "open the image store in /proc/no/such"},
	} {
		info, err := c.images.Look(t.Context(), c.ref)
		if c.want == "" {
			if err != nil || info.Name != c.ref || info.Digest == "" {
				t.Errorf("%s: %+v, %v", c.ref, info, err)
			}
			continue
		}
		var wrong *sandbox.ImageError
		if !errors.As(err, &wrong) || wrong.Ref != c.ref || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.ref, err, c.want)
		}
	}
	if len(lines) == 0 || lines[0] != "pulling the image "+host+"/here:1" {
		t.Errorf("lines %q", lines)
	}
	if info, err := stays.Look(t.Context(), ""); err != nil || !info.IsZero() {
		t.Errorf("no image is %+v, %v", info, err)
	}
}

func push(t *testing.T, ref, arch string) {
	t.Helper()
	img, err := random.Image(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if img, err = mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: arch, RootFS: v1.RootFS{Type: "layers"}}); err != nil {
		t.Fatal(err)
	}
	named, err := name.ParseReference(ref)
	if err == nil {
		err = remote.Write(named, img)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEscapeOption(t *testing.T) {
	if got, want := EscapeOption(`/a:b,c\d`), `/a\:b\,c\\d`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
