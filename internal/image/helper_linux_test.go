package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/klauspost/compress/gzip"
)

// entry is an entry of an archive, with its content.
type entry struct {
	tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, content}
}

func dir(name string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}, ""}
}

func link(name, target string) entry {
	return entry{tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink, Mode: 0o777}, ""}
}

func hardLink(name, target string) entry {
	return entry{tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeLink, Mode: 0o644}, ""}
}

func special(name string, kind byte) entry {
	return entry{tar.Header{Name: name, Typeflag: kind, Mode: 0o666, Devmajor: 1, Devminor: 3}, ""}
}

func mode(e entry, mode int64) entry {
	e.Mode = mode
	return e
}

// archive writes entries as they are, as hostile as they may be.
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		e.Size = int64(len(e.content))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func layerOf(t testing.TB, data []byte) v1.Layer {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// imageOf makes an image of layers, each an archive, for this machine.
func imageOf(t testing.TB, layers ...[]byte) v1.Image {
	t.Helper()
	all := make([]v1.Layer, 0, len(layers))
	for _, data := range layers {
		all = append(all, layerOf(t, data))
	}
	return configured(t, runtime.GOARCH, all...)
}

func configured(t testing.TB, arch string, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", arch
	file.Config = v1.Config{
		Env: []string{"PATH=/bin", "A=b=c"}, Entrypoint: []string{"/entry"}, Cmd: []string{"x", "y"},
		User: "app:app", WorkingDir: "/srv",
	}
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	return img
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// openStore opens a store in a directory.
func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s := must[*Store](t)(Open(dir, o))
	t.Cleanup(func() { s.Close() })
	return s
}

func newStore(t testing.TB) *Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "images"), Options{})
}

// lease acquires an image until the test ends.
func lease(t testing.TB, s *Store, ref string) *Lease {
	t.Helper()
	l := must[*Lease](t)(s.Acquire(t.Context(), ref))
	t.Cleanup(func() { l.Close() })
	return l
}

// listing is what a directory holds: name, type and permissions, content or
// target. It follows nothing.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found[strings.TrimPrefix(name, dir+"/")] = describe(t, name, info)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func describe(t testing.TB, name string, info fs.FileInfo) string {
	t.Helper()
	switch info.Mode().Type() {
	case fs.ModeDir:
		return info.Mode().String()
	case fs.ModeSymlink:
		return "-> " + must[string](t)(os.Readlink(name))
	}
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	if info.Size() > 1<<20 {
		return info.Mode().String() + " large"
	}
	return info.Mode().String() + " " + string(must[[]byte](t)(os.ReadFile(name)))
}

// leftovers are the names in the directory of work.
func leftovers(t testing.TB, s *Store) []string {
	t.Helper()
	var names []string
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.dir, workDir))) {
		names = append(names, e.Name())
	}
	return names
}

// wantError compares an error's kind and looks for words in its sentence.
func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got the error %v; want %v", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

func makeFIFO(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}
