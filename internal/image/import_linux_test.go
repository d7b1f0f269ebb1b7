package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// written writes an archive to a file.
func written(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// dockerSaved is an archive as docker save writes it.
func dockerSaved(t testing.TB, images map[string]v1.Image) []byte {
	t.Helper()
	refs := map[name.Reference]v1.Image{}
	for tag, img := range images {
		refs[must[name.Reference](t)(name.ParseReference(tag))] = img
	}
	var b bytes.Buffer
	if err := tarball.MultiRefWrite(refs, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// layoutDir is an OCI layout of images and indexes.
func layoutDir(t testing.TB, add func(layout.Path) error) string {
	t.Helper()
	dir := t.TempDir()
	if err := add(must[layout.Path](t)(layout.Write(dir, empty.Index))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func layoutOf(t testing.TB, img v1.Image, tag string) string {
	t.Helper()
	return layoutDir(t, func(p layout.Path) error {
		return p.AppendImage(img, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag}))
	})
}

func layoutArchive(t testing.TB, img v1.Image, tag string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(layoutOf(t, img, tag))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sample is an image of two layers, the second of which changes the first.
func sample(t testing.TB) v1.Image {
	return imageOf(t, base(t), archive(t, file("bin/tool", "new"), file("d/.wh.inner", ""), mode(file("su", "x"), 0o4755)))
}

// wantSample looks at what has become of it.
func wantSample(t *testing.T, s *Store, ref string) {
	t.Helper()
	l := lease(t, s, ref)
	want := Config{
		Env: []string{"PATH=/bin", "A=b=c"}, Entrypoint: []string{"/entry"}, Cmd: []string{"x", "y"},
		User: "app:app", WorkingDir: "/srv", Architecture: runtime.GOARCH,
	}
	if diff := cmp.Diff(want, l.Config); diff != "" {
		t.Errorf("configuration: -want +got:\n%s", diff)
	}
	found := listing(t, l.Root())
	for name, what := range map[string]string{
		"usr/bin/tool": "-rw-r--r-- new", "bin": "-> usr/bin", "d": "drwxr-xr-x", "d/inner": "", "su": "-rwxr-xr-x x",
		"dev": "drwxr-xr-x", "proc": "drwxr-xr-x", "tmp": "dtrwxrwxrwx",
	} {
		if found[name] != what {
			t.Errorf("%s is %q; want %q", name, found[name], what)
		}
	}
	if l.Layers != 2 || l.Bytes == 0 || l.Files == 0 || l.Added.IsZero() {
		t.Errorf("what is known of it: %+v", l.Image)
	}
}

// TestImport takes the sample in every form in which images are handed around.
func TestImport(t *testing.T) {
	img := sample(t)
	saved := dockerSaved(t, map[string]v1.Image{"example.org/a/b:1": img})
	laid := layoutArchive(t, img, "example.org/a/b:1")
	for form, path := range map[string]string{
		"layout": layoutOf(t, img, "example.org/a/b:1"), "layout archive": written(t, laid),
		"docker save": written(t, saved), "docker save | gzip": written(t, gzipped(t, saved)), "layout | zstd": written(t, zstdCompressed(t, laid)),
	} {
		t.Run(form, func(t *testing.T) {
			s := newStore(t)
			images, err := s.Import(t.Context(), path, "")
			if err != nil || len(images) != 1 || !slices.Equal(images[0].Names, []string{"example.org/a/b:1"}) {
				t.Fatalf("imported %+v, %v", images, err)
			}
			wantSample(t, s, "example.org/a/b:1")
			wantSample(t, s, images[0].Digest)
			wantSample(t, s, strings.TrimPrefix(images[0].Digest, "sha256:")[:12])
			if again, err := s.Import(t.Context(), path, "other"); err != nil || again[0].Digest != images[0].Digest {
				t.Errorf("imported again: %+v, %v", again, err)
			}
			wantSample(t, s, "other")
			if left := leftovers(t, s); len(left) != 0 {
				t.Errorf("left in tmp: %v", left)
			}
			if strings.HasPrefix(form, "layout") && images[0].Digest != must[v1.Hash](t)(img.Digest()).String() {
				t.Errorf("the digest is %s", images[0].Digest)
			}
		})
	}
}

// TestImportThroughAPipe: docker save | sandbox-run image import /dev/stdin.
func TestImportThroughAPipe(t *testing.T) {
	s := newStore(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	makeFIFO(t, pipe)
	data := dockerSaved(t, map[string]v1.Image{"a:1": sample(t)})
	sent := make(chan error, 1)
	go func() { sent <- os.WriteFile(pipe, data, 0) }()
	if _, err := s.Import(t.Context(), pipe, ""); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	wantSample(t, s, "a:1")
}

// TestImportSeveral: all of them, or the one that is asked for.
func TestImportSeveral(t *testing.T) {
	other := imageOf(t, archive(t, file("other", "x")))
	path := written(t, dockerSaved(t, map[string]v1.Image{"a:1": sample(t), "b:1": other}))
	s := newStore(t)
	if images, err := s.Import(t.Context(), path, ""); err != nil || len(images) != 2 {
		t.Fatalf("imported %+v, %v", images, err)
	}
	wantSample(t, s, "a:1")
	s = newStore(t)
	if images, err := s.Import(t.Context(), path, "a:1"); err != nil || len(images) != 1 {
		t.Fatalf("imported %+v, %v", images, err)
	}
	wantSample(t, s, "a:1")
	_, err := s.Import(t.Context(), path, "c:1")
	wantError(t, err, ErrNotFound, "there are 2 images", "library/b:1")
}

// TestImportSavedLinks: docker save wrote a layer that occurs twice as a link.
func TestImportSavedLinks(t *testing.T) {
	layer := archive(t, file("f", "x"))
	img := imageOf(t, layer, layer)
	config := must[[]byte](t)(img.RawConfigFile())
	data := archive(t, file("c.json", string(config)), file("1/layer.tar", string(layer)), link("2/layer.tar", "../1/layer.tar"),
		file("manifest.json", `[{"Config":"c.json","RepoTags":["a:1"],"Layers":["1/layer.tar","2/layer.tar"]}]`))
	if _, err := newStore(t).Import(t.Context(), written(t, data), ""); err != nil {
		t.Error(err)
	}
}

// TestImportPicksThePlatform of an index, and of images that lie beside others.
func TestImportPicksThePlatform(t *testing.T) {
	foreign := configured(t, "s390x", layerOf(t, archive(t, file("f", "x"))))
	entries := func(images ...v1.Image) v1.ImageIndex {
		idx := v1.ImageIndex(empty.Index)
		for _, img := range images {
			idx = mutate.AppendManifests(idx, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
				Platform: must[*v1.ConfigFile](t)(img.ConfigFile()).Platform(),
			}})
		}
		return idx
	}
	for name, c := range map[string]struct {
		add  func(layout.Path) error
		want error
	}{
		"index": {func(p layout.Path) error { return p.AppendIndex(entries(foreign, sample(t))) }, nil},
		"side by side": {func(p layout.Path) error {
			return errors.Join(
				p.AppendImage(foreign, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: "s390x"})),
				p.AppendImage(sample(t), layout.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH})))
		}, nil},
		"unspecified":   {func(p layout.Path) error { return errors.Join(p.AppendImage(foreign), p.AppendImage(sample(t))) }, nil},
		"foreign index": {func(p layout.Path) error { return p.AppendIndex(entries(foreign)) }, ErrPlatform},
		"foreign image": {func(p layout.Path) error { return p.AppendImage(foreign) }, ErrPlatform},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Import(t.Context(), layoutDir(t, c.add), "a:1")
			if name == "unspecified" {
				wantError(t, err, ErrNotFound, "2 images")
				_, err = s.Import(t.Context(), layoutDir(t, c.add), "")
			}
			if c.want != nil {
				wantError(t, err, c.want, "linux/s390x", "linux/"+runtime.GOARCH)
			} else if err != nil || len(must[[]Image](t)(s.List())) != 1 {
				t.Errorf("imported: %v", err)
			}
		})
	}
}

// tampered is the sample as a layout in which something was changed.
func tampered(t *testing.T, img v1.Image, change func(dir string, m *v1.Manifest)) string {
	t.Helper()
	path := layoutOf(t, img, "a:1")
	change(path, must[*v1.Manifest](t)(img.Manifest()))
	return path
}

func blobFile(dir string, h v1.Hash) string { return filepath.Join(dir, "blobs", h.Algorithm, h.Hex) }

// TestImportTampered: what has not its digest is refused before it is parsed.
func TestImportTampered(t *testing.T) {
	img := sample(t)
	rewrite := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(dir string, m *v1.Manifest)
		want   error
		words  []string
	}{
		"layer": {func(dir string, m *v1.Manifest) {
			name := blobFile(dir, m.Layers[1].Digest)
			data := must[[]byte](t)(os.ReadFile(name))
			data[len(data)-9]++
			rewrite(name, data)
		}, ErrCorrupt, []string{"image " + "a:1", "layer 2 of 2", "digest"}},
		"longer layer": {func(dir string, m *v1.Manifest) {
			name := blobFile(dir, m.Layers[0].Digest)
			rewrite(name, append(must[[]byte](t)(os.ReadFile(name)), 'x'))
		}, ErrCorrupt, []string{"layer 1 of 2", "more than the promised"}},
		"shorter layer": {func(dir string, m *v1.Manifest) {
			name := blobFile(dir, m.Layers[0].Digest)
			rewrite(name, must[[]byte](t)(os.ReadFile(name))[:10])
		}, ErrCorrupt, []string{"10 bytes of"}},
		"missing layer": {func(dir string, m *v1.Manifest) { os.Remove(blobFile(dir, m.Layers[0].Digest)) }, ErrCorrupt, []string{"no blob sha256:"}},
		"config": {func(dir string, m *v1.Manifest) {
			rewrite(blobFile(dir, m.Config.Digest), bytes.Replace(must[[]byte](t)(img.RawConfigFile()), []byte("app"), []byte("bpp"), 1))
		}, ErrCorrupt, []string{"configuration", "digest"}},
		"manifest": {func(dir string, _ *v1.Manifest) {
			rewrite(blobFile(dir, must[v1.Hash](t)(img.Digest())), append(must[[]byte](t)(img.RawManifest()), ' '))
		}, ErrCorrupt, []string{"manifest"}},
		"layer is a FIFO": {func(dir string, m *v1.Manifest) {
			os.Remove(blobFile(dir, m.Layers[0].Digest))
			makeFIFO(t, blobFile(dir, m.Layers[0].Digest))
		}, ErrUnsupported, []string{"no file"}},
		"layer is a link out": {func(dir string, m *v1.Manifest) {
			os.Remove(blobFile(dir, m.Layers[0].Digest))
			if err := os.Symlink("/etc/passwd", blobFile(dir, m.Layers[0].Digest)); err != nil {
				t.Fatal(err)
			}
		}, nil, []string{"escapes"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Import(t.Context(), tampered(t, img, c.change), "a:1")
			if err == nil {
				t.Fatal("it was imported")
			}
			if c.want == nil {
				c.want = err
			}
			wantError(t, err, c.want, c.words...)
			if images := must[[]Image](t)(s.List()); len(images) != 0 || len(leftovers(t, s)) != 0 {
				t.Errorf("left: %v, %v", images, leftovers(t, s))
			}
		})
	}
}

// TestImportManifests: documents that lie, or are of another kind.
func TestImportManifests(t *testing.T) {
	good := must[*v1.Manifest](t)(sample(t).Manifest())
	with := func(change func(*v1.Manifest)) []byte {
		m := good.DeepCopy()
		change(m)
		return must[[]byte](t)(json.Marshal(m))
	}
	for name, c := range map[string]struct {
		manifest []byte
		want     error
		words    string
	}{
		"no JSON":          {[]byte("{"), ErrCorrupt, "manifest"},
		"both kinds":       {[]byte(`{"layers":[],"manifests":[]}`), ErrHostile, "an image and an index"},
		"the first kind":   {[]byte(`{"fsLayers":[{}]}`), ErrUnsupported, "first kind"},
		"empty":            {[]byte(`{}`), ErrUnsupported, "no container image"},
		"a chart":          {with(func(m *v1.Manifest) { m.Config.MediaType = "application/vnd.cncf.helm.config.v1+json" }), ErrUnsupported, "helm"},
		"encrypted":        {with(func(m *v1.Manifest) { m.Layers[1].MediaType += "+encrypted" }), ErrUnsupported, "layer 2 of 2"},
		"too many layers":  {with(func(m *v1.Manifest) { m.Layers = slices.Repeat(m.Layers, 300) }), ErrTooLarge, "600 layers"},
		"one layer less":   {with(func(m *v1.Manifest) { m.Layers = m.Layers[:1] }), ErrCorrupt, "1 layers"},
		"layers exchanged": {with(func(m *v1.Manifest) { slices.Reverse(m.Layers) }), ErrCorrupt, "unpacked, its digest"},
		"huge layer":       {with(func(m *v1.Manifest) { m.Layers[1].Size = 1 << 40 }), ErrTooLarge, "1099511627776"},
		"huge layers":      {with(func(m *v1.Manifest) { m.Layers[0].Size, m.Layers[1].Size = 1<<63-1, 1<<63-1 }), ErrTooLarge, "layer 1"},
		"negative layer":   {with(func(m *v1.Manifest) { m.Layers[0].Size = -1 }), ErrTooLarge, "layer 1"},
		"huge config":      {with(func(m *v1.Manifest) { m.Config.Size = 1 << 40 }), ErrTooLarge, "configuration"},
		"negative config":  {with(func(m *v1.Manifest) { m.Config.Size = -5 }), ErrCorrupt, "configuration"},
		"huge manifest":    {append(with(func(*v1.Manifest) {}), bytes.Repeat([]byte(" "), 5<<20)...), ErrTooLarge, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			path := layoutOf(t, sample(t), "a:1")
			digest := sha256Of(c.manifest)
			index := must[[]byte](t)(json.Marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{{MediaType: types.OCIManifestSchema1, Digest: digest}}}))
			for file, data := range map[string][]byte{blobFile(path, digest): c.manifest, filepath.Join(path, "index.json"): index} {
				if err := os.WriteFile(file, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := newStore(t).Import(t.Context(), path, "a:1")
			wantError(t, err, c.want, c.words)
		})
	}
}

// TestImportManyManifests: an index of few bytes for each may have the same manifest read often.
func TestImportManyManifests(t *testing.T) {
	const often = maxManifests/maxDocument + 1
	path := layoutOf(t, sample(t), "a:1")
	manifest := append(must[[]byte](t)(sample(t).RawManifest()), bytes.Repeat([]byte(" "), maxDocument-4096)...)
	one := v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: sha256Of(manifest)}
	for times, want := range map[int]error{often - 1: nil, often: ErrTooLarge} {
		index := must[[]byte](t)(json.Marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: slices.Repeat([]v1.Descriptor{one}, times)}))
		for file, data := range map[string][]byte{blobFile(path, one.Digest): manifest, filepath.Join(path, "index.json"): index} {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := newStore(t).Import(t.Context(), path, ""); !errors.Is(err, want) {
			t.Errorf("%d times: %v, want %v", times, err, want)
		}
	}
}

// TestImportArchives: archives that are no image, or hostile before one is found.
func TestImportArchives(t *testing.T) {
	for name, c := range map[string]struct {
		data  []byte
		want  error
		words string
	}{
		"a root file system": {base(t), ErrUnsupported, "neither an OCI layout"},
		"noise":              {[]byte(strings.Repeat("noise", 1000)), ErrCorrupt, "cannot be read"},
		"no image":           {archive(t, file("manifest.json", "[]")), ErrNotFound, "names no image"},
		"empty layout":       {archive(t, file("index.json", "{}")), ErrNotFound, "names no image"},
		"links in a circle":  {archive(t, link("manifest.json", "x"), link("x", "manifest.json")), ErrHostile, "links"},
		"link to outside":    {archive(t, link("manifest.json", "/etc/passwd")), ErrUnsupported, "neither"},
		"a file is missing":  {archive(t, file("manifest.json", `[{"Config":"../../etc/passwd"}]`)), ErrCorrupt, "missing"},
		"with holes":         {sparse(1 << 40), ErrUnsupported, "neither"},
		"large document":     {archive(t, file("index.json", strings.Repeat(" ", 5<<20))), ErrTooLarge, "index.json"},
		"index of itself":    {archive(t, file("index.json", `{"manifests":[{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}]}`), file("blobs/sha256/44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", "{}")), ErrUnsupported, "no container image"},
		"no digest":          {archive(t, file("index.json", `{"manifests":[{}]}`)), ErrCorrupt, "no blob"},
		"many names":         {archive(t, file("manifest.json", `[{"RepoTags":[""`+strings.Repeat(`,"a"`, maxTags)+`]}]`)), ErrTooLarge, "100 names"},
		"many images":        {archive(t, file("manifest.json", `[{}`+strings.Repeat(`,{}`, maxImages)+`]`)), ErrTooLarge, "1000 images"},
		"a large index":      {archive(t, file("index.json", `{"manifests":[{}`+strings.Repeat(`,{}`, maxImages)+`]}`)), ErrTooLarge, "1001 images"},
		"holes, named":       {paxed(t, file("GNUSparseFile/index.json", holes("0\n")), "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=index.json", "GNU.sparse.realsize=10"), ErrUnsupported, "written with holes"},
		"a long name":        {archive(t, file(strings.Repeat("x", 300), "x"), link("manifest.json", strings.Repeat("x", 300))), ErrUnsupported, "neither"},
		"xz":                 {[]byte("\xfd7zXZ\x00"), ErrUnsupported, "bzip2 or xz"},
		"gzip bomb":          {gzipped(t, make([]byte, 4<<20)), ErrTooLarge, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir(), Options{Limits: Limits{Bytes: 1 << 20}})
			_, err := s.Import(t.Context(), written(t, c.data), "")
			wantError(t, err, c.want, c.words)
			if left := leftovers(t, s); len(left) != 0 {
				t.Errorf("left in tmp: %v", left)
			}
		})
	}
}

// TestImportCountsFiles: an archive of very many files is not an image.
func TestImportCountsFiles(t *testing.T) {
	data := slices.Repeat(archive(t, file("f", ""))[:512], maxArchiveFiles+1)
	_, err := newStore(t).Import(t.Context(), written(t, data), "")
	wantError(t, err, ErrTooLarge, "100000")
}

// TestIndexesOfIndexes end.
func TestIndexesOfIndexes(t *testing.T) {
	inner := v1.ImageIndex(empty.Index)
	inner = mutate.AppendManifests(inner, mutate.IndexAddendum{Add: sample(t)})
	for range 6 {
		inner = mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: inner})
	}
	_, err := newStore(t).Import(t.Context(), layoutDir(t, func(p layout.Path) error { return p.AppendIndex(inner) }), "a:1")
	wantError(t, err, ErrHostile, "index of indexes")
}
