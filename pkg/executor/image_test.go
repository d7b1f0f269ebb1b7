//go:build unix

package executor

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// imageRuntime is a runtime whose containers have an image with these answers.
func imageRuntime(answers map[string]string) *fakeRuntime {
	return &fakeRuntime{
		img: sandbox.Image{Name: "img:1", Digest: "sha256:1", Env: []string{"PATH=/opt/bin:/bin", "HOME=/root", "JAVA_HOME=/opt/java"}, Elsewhere: true},
		program: func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
			if answer, ok := answers[strings.Join(p.Args, " ")]; ok {
				_, _ = io.WriteString(p.Stdout, answer)
			}
			return sandbox.Exit{}
		},
	}
}

// A program of an image is found by asking in a container, and runs there with the
// environment of the image.
func TestRunInAnImage(t *testing.T) {
	rt := imageRuntime(map[string]string{"ruby --version": "ruby 3.3.1 (2026)\n"})
	e := New(rt, DefaultConfig())
	e.cfg.Images = nil
	req := Request{Language: "ruby", Code: []byte("puts 1"), Image: "img:1", Isolation: sandbox.LevelFull, Tenant: "a"}
	res, err := e.Run(t.Context(), req, nil)
	if err != nil || res.Status != api.StatusOK || res.Version != "3.3.1" || res.Meta.Image != "img:1@sha256:1" {
		t.Fatalf("%+v, %v", res, err)
	}
	rt.checkDeleted(t)
	if len(rt.containers) != 2 {
		t.Fatalf("%d containers, want one to ask and one to run", len(rt.containers))
	}
	for _, c := range rt.containers {
		s := c.spec
		if s.Image != "img:1" || s.Digest != "sha256:1" || s.Language != "ruby" || s.Tenant != "a" || s.Level != sandbox.LevelFull || s.Disk.Bytes <= 0 || len(s.Mounts) > 0 {
			t.Errorf("spec %+v", s)
		}
	}
	run := rt.containers[1].started[0]
	if run.Args[0] != "ruby" || !slices.Contains(run.Env, "PATH=/opt/bin:/bin") || !slices.Contains(run.Env, "HOME=/workspace") || !slices.Contains(run.Env, "JAVA_HOME=/opt/java") {
		t.Errorf("runs %q with %q", run.Args, run.Env)
	}
}

func TestImageFaults(t *testing.T) {
	fault := &sandbox.ImageError{Ref: "img:1", Err: errors.New("it is not here"), Mend: "Pull it"}
	for _, tc := range []struct {
		name  string
		rt    *fakeRuntime
		req   Request
		allow []string
		kind  InputKind
		field string
		want  string
	}{
		{"not here", &fakeRuntime{imgErr: fault}, Request{Image: "img:1"}, nil, InputInvalid, "/image", "the image img:1 cannot be used: it is not here. Pull it"},
		{"the operator's is not here", &fakeRuntime{imgErr: fault}, Request{}, nil, InputNoToolchain, "/language", "it is not here"},
		{"no images", &fakeRuntime{imgErr: &sandbox.UnsupportedError{What: "an image", Reason: "x"}}, Request{Image: "img:1"}, nil, InputUnsupported, "/image", "an image cannot be enforced here"},
		{"not allowed", &fakeRuntime{}, Request{Image: "secret:1"}, []string{"img:*"}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"not allowed by its digest", &fakeRuntime{}, Request{Image: "img:1@sha256:" + strings.Repeat("a", 64)}, []string{"img:*"}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"another of a repository by its digest", &fakeRuntime{}, Request{Image: "img@sha256:" + strings.Repeat("b", 64)}, []string{"img@*", "img@sha256:" + strings.Repeat("a", 64)}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"allowed by its digest", &fakeRuntime{imgErr: fault}, Request{Image: "img@sha256:" + strings.Repeat("a", 64)}, []string{"img@sha256:" + strings.Repeat("a", 64)}, InputInvalid, "/image", "it is not here"},
		{"by digits that may be an id's", &fakeRuntime{}, Request{Image: "3f2a"}, []string{"*"}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"by digits of an id", &fakeRuntime{}, Request{Image: "sha256:3f2a"}, []string{"*:*"}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"none allowed", &fakeRuntime{}, Request{Image: "img:1"}, []string{}, InputUnsupported, "/image", "SANDBOX_IMAGES"},
		{"not in the image", imageRuntime(nil), Request{Image: "img:1"}, []string{"img:*"}, InputNoToolchain, "/language", "Ruby is not installed: ruby of the image img:1 does not say"},
		{"another version", imageRuntime(map[string]string{"ruby --version": "ruby 3.3.1\n"}), Request{Language: "ruby@2", Image: "img:1"}, nil, InputNoToolchain, "/language", "there is 3.3.1"},
		{"packages", imageRuntime(map[string]string{"python3 --version": "Python 3.12.1\n", "python3 -I -c import sys; print(sys.executable)": "/usr/bin/python3\n"}),
			Request{Language: "python", Requirements: []string{"six"}}, nil, InputUnsupported, "/requirements", "packages cannot be installed into img:1"},
		{"no container", &fakeRuntime{img: sandbox.Image{Name: "img:1"}, createErr: &sandbox.UnsupportedError{What: "isolation none", Reason: "x"}}, Request{}, nil, InputUnsupported, "", "isolation none cannot be enforced"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := New(tc.rt, DefaultConfig())
			e.cfg.Images = tc.allow
			if tc.req.Code = []byte("x"); tc.req.Language == "" {
				tc.req.Language = "ruby"
			}
			_, err := e.Run(t.Context(), tc.req, nil)
			var input *InputError
			if !errors.As(err, &input) || input.Kind != tc.kind || input.Field != tc.field || !strings.Contains(input.Detail, tc.want) {
				t.Errorf("%+v, want kind %d at %q: %q", err, tc.kind, tc.field, tc.want)
			}
			tc.rt.checkDeleted(t)
		})
	}
}

// An engine that is gone is no fault of the request.
func TestImageCannotBeAskedFor(t *testing.T) {
	for name, rt := range map[string]*fakeRuntime{
		"asked for":   {imgErr: fmt.Errorf("the engine is gone: %w", syscall.EAGAIN)},
		"looked into": {img: sandbox.Image{Name: "img:1"}, createErr: fmt.Errorf("the engine is gone: %w", syscall.EAGAIN)},
		"started":     {img: sandbox.Image{Name: "img:1"}, startErr: fmt.Errorf("the engine is gone: %w", syscall.EAGAIN)},
	} {
		res, err := New(rt, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x")}, nil)
		if err != nil || res.Status != api.StatusSandboxError || res.Retryable == nil || !*res.Retryable || !strings.Contains(res.Message, "the engine is gone") {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		rt.checkDeleted(t)
	}
}

// A container that takes a minute to be made is waited for: under load they do.
func TestSlowImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := imageRuntime(map[string]string{"ruby --version": "ruby 3.3.1\n"})
		rt.onCreate = func() { time.Sleep(time.Minute) }
		res, err := New(rt, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x")}, nil)
		if err != nil || res.Status != api.StatusOK {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// One that is never made, or in which nothing starts, is a fault of ours that may pass,
// in words. A program that does not answer is the image's.
func TestImageThatHangs(t *testing.T) {
	tooLong := func() { time.Sleep(time.Hour) }
	for what, rt := range map[string]*fakeRuntime{
		"no container of it could be made":                 {img: sandbox.Image{Name: "img:1"}, onCreate: tooLong},
		"no program could be started in a container of it": {img: sandbox.Image{Name: "img:1"}, onStart: tooLong},
	} {
		synctest.Test(t, func(t *testing.T) {
			res, err := New(rt, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x")}, nil)
			want := "the image img:1 was to be asked for ruby, and " + what + " within 2m0s: this machine has too much to do, or what makes containers hangs. Try again later; sandbox-run doctor --runtime fake tells whether it works"
			if err != nil || res.Status != api.StatusSandboxError || res.Retryable == nil || !*res.Retryable || !strings.Contains(res.Message, want) || strings.Contains(res.Message, "deadline") {
				t.Errorf("%+v, %v", res, err)
			}
			rt.checkDeleted(t)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		rt := imageRuntime(nil)
		rt.program = untilTerm
		_, err := New(rt, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x")}, nil)
		if err == nil || !strings.Contains(err.Error(), "ruby of the image img:1: it did not answer within 10s") {
			t.Errorf("%v", err)
		}
		rt.checkDeleted(t)
	})
}

// keepingRuntime keeps what it is given.
type keepingRuntime struct {
	*fakeRuntime
	kept    map[string][]string // names in the archive
	dirs    []sandbox.KeptDir
	keepErr error
}

func (k *keepingRuntime) Kept(_ context.Context, spec sandbox.Spec, name string) (bool, error) {
	_, ok := k.kept[spec.Language+" "+name]
	return ok, nil
}

func (k *keepingRuntime) Keep(_ context.Context, spec sandbox.Spec, dir sandbox.KeptDir, content io.Reader) error {
	if k.keepErr != nil {
		return k.keepErr
	}
	k.dirs = append(k.dirs, dir)
	names := []string{}
	archive := tar.NewReader(content)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			k.kept[spec.Language+" "+dir.Name] = names
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		names = append(names, fmt.Sprintf("%s %o %d", h.Name, h.Mode, len(text)))
	}
}

// keptRun is a run in an image that is elsewhere, as far as its toolchain.
func keptRun(rt sandbox.Runtime, dataDir string) *run {
	lang, _, _ := language.Lookup("go")
	img := sandbox.Image{Name: "img:1", Digest: "sha256:1", Elsewhere: true}
	return &run{e: New(rt, Config{DataDir: dataDir, CompileDiskBytes: 1 << 20}), lang: lang, img: img, toolchain: language.Toolchain{Language: "go", Program: "go", Image: img.Digest}}
}

// A build cache for an image that is elsewhere is prepared once, in a container of
// that image, and kept by the runtime.
func TestCacheIsKeptElsewhere(t *testing.T) {
	rt := &keepingRuntime{fakeRuntime: &fakeRuntime{}, kept: map[string][]string{}}
	rt.program = func(_ sandbox.Process, r *fakeRunning) sandbox.Exit {
		tree := r.container.trees[sandbox.BuildDir]
		tree.put("prepared/pkg/a", []byte("abc"), 0o600)
		tree.put("prepared/tool", []byte("x"), 0o700)
		return sandbox.Exit{}
	}
	r := keptRun(rt, t.TempDir())
	for range 2 {
		mount, err := r.cacheMount(t.Context(), cacheUnderTest)
		if err != nil || mount.Target != "/cache" || !mount.Overlay || mount.Source != "" || !strings.HasPrefix(mount.Kept, "image-") || len(mount.Kept) != imageKey {
			t.Fatalf("mount %+v, %v", mount, err)
		}
		if diff := cmp.Diff([]string{"pkg/a 644 3", "tool 744 1"}, rt.kept["go "+mount.Kept]); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
	if len(rt.containers) != 1 {
		t.Errorf("prepared %d times", len(rt.containers))
	}
	rt.checkDeleted(t)
	other := keptRun(rt, "")
	other.toolchain.Image = "sha256:2"
	mount, err := other.cacheMount(t.Context(), cacheUnderTest)
	if err != nil || len(rt.kept) != 2 {
		t.Errorf("another image has the same cache: %+v, %v", mount, err)
	}
}

// What an image says names no file: nothing is made beside its caches, and it never has
// the cache of another image or of this machine.
func TestCacheOfAnImageStaysInItsPlace(t *testing.T) {
	rt := &fakeRuntime{}
	rt.program = fillCache(rt)
	e := New(rt, Config{DataDir: t.TempDir(), CompileDiskBytes: 1 << 20})
	seen := map[string]bool{}
	for _, image := range []string{"", "sha256:1", "sha256:2"} {
		for _, key := range []string{"go-1.26", "go-1.22/../../../../x", "go-1.26/y", "..", "", "go-1.26\x00", strings.Repeat("1", 300)} {
			r := goRun(e)
			r.toolchain.Image = image
			cache := cacheUnderTest
			cache.Key = key
			mount, err := r.cacheMount(t.Context(), cache)
			if image == "" && key != "go-1.26" {
				if err == nil {
					t.Errorf("a cache of this machine is called %.40q", mount.Source)
				}
				continue
			}
			if err != nil || seen[mount.Source] || filepath.Dir(mount.Source) != filepath.Join(e.cfg.DataDir, "cache", "build") {
				t.Errorf("%q, %.40q: %+v, %v", image, key, mount, err)
			}
			seen[mount.Source] = true
		}
	}
	if left := leftIn(t, e.cfg.DataDir); !slices.Equal(left, []string{"cache"}) {
		t.Errorf("made %q", left)
	}
	if left := leftIn(t, filepath.Join(e.cfg.DataDir, "cache", "build")); len(left) != len(seen) {
		t.Errorf("made %q", left)
	}
}

func TestCacheIsNotKept(t *testing.T) {
	full := errors.New("the disk is full")
	rt := &keepingRuntime{fakeRuntime: &fakeRuntime{}, kept: map[string][]string{}, keepErr: full}
	if _, err := keptRun(rt, t.TempDir()).cacheMount(t.Context(), cacheUnderTest); !errors.Is(err, full) || !strings.Contains(err.Error(), "prepare the standard library") {
		t.Errorf("%v", err)
	}
	rt.checkDeleted(t)
	rt.keepErr, rt.filesErr = nil, errors.New("no files")
	if _, err := keptRun(rt, t.TempDir()).cacheMount(t.Context(), cacheUnderTest); !errors.Is(err, rt.filesErr) || len(rt.kept) > 0 {
		t.Errorf("%v, kept %v", err, rt.kept)
	}
	plain := &fakeRuntime{}
	mount, err := keptRun(plain, t.TempDir()).cacheMount(t.Context(), cacheUnderTest)
	if err != nil || mount != (sandbox.Mount{Target: "/cache", Overlay: true}) || len(plain.containers) > 0 {
		t.Errorf("where nothing is kept: %+v, %v", mount, err)
	}
}

// Half an archive is not kept.
func TestKeepStopsWithItsTree(t *testing.T) {
	rt := &keepingRuntime{fakeRuntime: &fakeRuntime{}, kept: map[string][]string{}}
	broken := errors.New("the tree is gone")
	tree := &fakeTree{names: map[string]fakeFile{}, walkErr: broken}
	tree.put("prepared/a", []byte("a"), 0o600)
	err := keep(t.Context(), rt, sandbox.Spec{}, sandbox.KeptDir{Name: "x"}, func(w *tar.Writer) error { return archiveCache(w, tree, 1<<20) })
	if !errors.Is(err, broken) || len(rt.kept) > 0 {
		t.Errorf("%v, kept %v", err, rt.kept)
	}
}

// The compiler for TypeScript is this program: the runtime keeps a copy of it.
func TestToolsAreKeptElsewhere(t *testing.T) {
	rt := &keepingRuntime{fakeRuntime: &fakeRuntime{}, kept: map[string][]string{}}
	r := keptRun(rt, t.TempDir())
	for range 2 {
		mount, release, err := r.selfMount(t.Context())
		if err != nil || mount.Source != "" || !strings.HasPrefix(mount.Kept, "tools-") || mount.Overlay {
			t.Fatalf("mount %+v, %v", mount, err)
		}
		release()
		if kept := rt.kept["go "+mount.Kept]; len(kept) != 1 || !strings.HasPrefix(kept[0], "sandbox-run 755 ") {
			t.Errorf("kept %q", kept)
		}
	}
	rt.kept, rt.keepErr = map[string][]string{}, errors.New("the disk is full")
	if _, _, err := r.selfMount(t.Context()); !errors.Is(err, rt.keepErr) {
		t.Errorf("%v", err)
	}
}

// A directory of this host is kept as it is, with its links, under a name that tells
// what is in it.
func TestDirectoriesAreKeptElsewhere(t *testing.T) {
	rt := &keepingRuntime{fakeRuntime: &fakeRuntime{}, kept: map[string][]string{}}
	r := keptRun(rt, t.TempDir())
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Symlink("/usr/bin/python3", filepath.Join(dir, "bin/python3")), os.WriteFile(filepath.Join(dir, "tool"), []byte("x"), 0o755)); err != nil {
		t.Fatal(err)
	}
	mount, err := r.dirMount(t.Context(), sandbox.KeptDir{Name: "env"}, dir, "/packages")
	if err != nil || mount != (sandbox.Mount{Kept: "env", Target: "/packages"}) {
		t.Errorf("%+v, %v", mount, err)
	}
	if diff := cmp.Diff([]string{"bin/ 755 0", "bin/python3 777 0", "tool 755 1"}, rt.kept["go env"]); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if _, err := r.dirMount(t.Context(), sandbox.KeptDir{Name: "gone"}, filepath.Join(dir, "gone"), "/packages"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	here := &run{e: New(rt, Config{})}
	if mount, err := here.dirMount(t.Context(), sandbox.KeptDir{Name: "env"}, dir, "/packages"); err != nil || mount != (sandbox.Mount{Source: dir, Target: "/packages"}) {
		t.Errorf("on this host: %+v, %v", mount, err)
	}
	tools := map[string]string{"uv": filepath.Join(dir, "tool")}
	before := toolsName(tools)
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("newer"), 0o755); err != nil {
		t.Fatal(err)
	}
	if toolsName(tools) == before {
		t.Error("another version of the installer has the same name")
	}
}
