//go:build unix

package executor

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

var (
	cacheUnderTest = language.BuildCache{
		Key: "go-1.26", Target: "/cache", Title: "the standard library",
		Prepare: language.Step{Args: []string{"go", "build", "std"}},
		Files:   map[string][]byte{"go.mod": []byte("module x\n")},
	}
	goToolchain = language.Toolchain{Language: "go", Program: "/usr/bin/go", Mounts: []sandbox.Mount{{Source: "/opt/go"}}}
)

// goRun is a run in Go that has got as far as its toolchain.
func goRun(e *Executor) *run {
	lang, _, _ := language.Lookup("go")
	return &run{e: e, lang: lang, toolchain: goToolchain}
}

// fillCache is a preparation: it writes to the build directory, more than what is kept.
func fillCache(rt *fakeRuntime) func(sandbox.Process, *fakeRunning) sandbox.Exit {
	return func(sandbox.Process, *fakeRunning) sandbox.Exit {
		tree := rt.containers[len(rt.containers)-1].trees[sandbox.BuildDir]
		tree.put("prepared", nil, fs.ModeDir|0o700)
		tree.put("prepared/sub", nil, fs.ModeDir|0o700)
		tree.put("prepared/sub/a", []byte("a"), 0o600)
		tree.put("prepared/link", []byte("/etc/passwd"), fs.ModeSymlink|0o777)
		tree.put("prepared/fifo", nil, fs.ModeNamedPipe|0o600)
		tree.put("preparedness", []byte("temporary"), 0o600)
		tree.put("tmp", []byte("temporary"), 0o600)
		return sandbox.Exit{}
	}
}

func TestBuildCacheIsPreparedOnce(t *testing.T) {
	rt := &fakeRuntime{}
	rt.program = fillCache(rt)
	var notes []string
	e := New(rt, Config{DataDir: t.TempDir(), CompileDiskBytes: 1 << 20, Notify: func(m string) { notes = append(notes, m) }})
	var group sync.WaitGroup
	dirs := make([]string, 4)
	for i := range dirs {
		group.Go(func() {
			var err error
			if dirs[i], err = goRun(e).buildCache(t.Context(), cacheUnderTest); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, dir := range dirs {
		if dir != dirs[0] || !strings.HasSuffix(dir, "/cache/build/go-1.26") {
			t.Errorf("directory %q and %q", dir, dirs[0])
		}
	}
	if len(rt.containers) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "the standard library") {
		t.Fatalf("%d preparations, told %q", len(rt.containers), notes)
	}
	rt.checkDeleted(t)
	checkPrepared(t, rt.containers[0], dirs[0])
}

// checkPrepared looks at the container of a preparation and at what it made.
func checkPrepared(t *testing.T, c *fakeContainer, dir string) {
	t.Helper()
	if m := c.spec.Mounts; len(m) != 1 || m[0].Source != "/opt/go" {
		t.Errorf("mounts %+v", m)
	}
	if f := c.trees[sandbox.WorkspaceDir].names["go.mod"]; string(f.content) != "module x\n" {
		t.Errorf("the workspace's go.mod is %q", f.content)
	}
	for name, mode := range map[string]fs.FileMode{".": fs.ModeDir | 0o777, "sub": fs.ModeDir | 0o777, "sub/a": 0o644} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v; want %v", name, info, err, mode)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, "sub/a")); err != nil || info.ModTime().Unix() != 1 {
		t.Errorf("sub/a is of %v, %v", info.ModTime(), err)
	}
	for _, name := range []string{"link", "fifo", "tmp", "preparedness"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is in the cache: %v", name, err)
		}
	}
	if left := leftIn(t, filepath.Dir(dir)); len(left) != 1 || left[0] != "go-1.26" {
		t.Errorf("beside the cache: %q", left)
	}
}

// leftIn names what a directory holds beside lock files.
func leftIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// What no run uses any more goes, and is prepared again when one does.
func TestUnusedCaches(t *testing.T) {
	rt := &fakeRuntime{}
	rt.program = fillCache(rt)
	e := New(rt, Config{DataDir: t.TempDir(), CompileDiskBytes: 1 << 20})
	other := cacheUnderTest
	other.Key = "go-1.27"
	dirs := map[string]string{}
	for _, cache := range []language.BuildCache{cacheUnderTest, other} {
		dir, err := goRun(e).buildCache(t.Context(), cache)
		if err != nil {
			t.Fatal(err)
		}
		dirs[cache.Key] = dir
		age(dir+cacheLock, unusedCache+time.Hour)
	}
	if _, err := goRun(e).buildCache(t.Context(), other); err != nil { // is a use
		t.Fatal(err)
	}
	removed, err := Reclaim(t.Context(), e.cfg.DataDir)
	if want := []string{dirs[cacheUnderTest.Key]}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v, want %q", removed, err, want)
	}
	if exists(dirs[cacheUnderTest.Key]) || !exists(dirs[other.Key]) {
		t.Error("it is the other one that goes")
	}
	if dir, err := goRun(e).buildCache(t.Context(), cacheUnderTest); err != nil || !exists(dir) {
		t.Errorf("%q, %v", dir, err)
	}
}

func TestFailedPreparationLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, rt := range map[string]*fakeRuntime{
		"create":  {createErr: broken},
		"files":   {filesErr: broken},
		"write":   {writeErr: broken},
		"start":   {startErr: broken},
		"program": {program: says("", "cannot find package\nbroken\n", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(rt, Config{DataDir: t.TempDir()})
			for range 2 { // the second caller tries again
				_, err := goRun(e).buildCache(t.Context(), cacheUnderTest)
				if err == nil || !strings.Contains(err.Error(), "prepare the standard library: ") || !strings.Contains(err.Error(), "broken") {
					t.Errorf("error %v", err)
				}
			}
			if left := leftIn(t, filepath.Join(e.cfg.DataDir, "cache", "build")); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
			rt.checkDeleted(t)
		})
	}
}

// What a compiler leaves is bounded by the disk that it had, whoever tells how much it is.
func TestPreparedIsBounded(t *testing.T) {
	tree := newTree("prepared/a", "prepared/b", "elsewhere")
	var seen []string
	visit := func(name string, _ sandbox.FileInfo) error { seen = append(seen, name); return nil }
	tree.edit("elsewhere", func(f *fakeFile) { f.Size = 1 << 40 })
	tree.edit("prepared/a", func(f *fakeFile) { f.Size = 600 })
	tree.edit("prepared/b", func(f *fakeFile) { f.Size = 400 })
	if err := walkMade(tree, prepared, 1000, visit); err != nil || !slices.Equal(seen, []string{"a", "b"}) {
		t.Errorf("%q, %v", seen, err)
	}
	if err := walkMade(tree, prepared, 999, visit); err == nil {
		t.Error("there is more than its disk had room for")
	}
	for _, size := range []int64{math.MaxInt64, math.MaxInt64 - 600, -1} {
		tree.edit("prepared/b", func(f *fakeFile) { f.Size = size })
		if err := walkMade(tree, prepared, 1000, visit); err == nil {
			t.Errorf("a file of %d bytes has room", size)
		}
	}
}

func TestBuildCacheNeedsADirectory(t *testing.T) {
	e := New(&fakeRuntime{}, Config{})
	if _, err := goRun(e).buildCache(t.Context(), cacheUnderTest); err == nil || !strings.Contains(err.Error(), "no data directory") {
		t.Errorf("error %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := goRun(New(&fakeRuntime{}, Config{DataDir: file})).buildCache(t.Context(), cacheUnderTest); err == nil || !strings.Contains(err.Error(), "set SANDBOX_DATA_DIR") {
		t.Errorf("error %v", err)
	}
}

func TestBuildCacheCancelled(t *testing.T) {
	rt := &fakeRuntime{}
	ctx, cancel := context.WithCancel(t.Context())
	rt.program = func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
		cancel()
		return untilTerm(p, r)
	}
	e := New(rt, Config{DataDir: t.TempDir()})
	if _, err := goRun(e).buildCache(ctx, cacheUnderTest); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if left := leftIn(t, filepath.Join(e.cfg.DataDir, "cache", "build")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	rt.checkDeleted(t)
}

// Who waits for a lock gets it when it is free, and no longer waits when it is
// cancelled: without that this test never ends.
func TestLockFileWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := lockFile(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	})
	cancel()
	group.Wait()
	group.Go(func() {
		unlock, err := lockFile(t.Context(), path)
		if err != nil {
			t.Error(err)
			return
		}
		unlock()
	})
	unlock()
	group.Wait()
}

func TestLockFileCannotBeMade(t *testing.T) {
	if _, err := lockFile(t.Context(), filepath.Join(t.TempDir(), "no", "such")); err == nil || !strings.Contains(err.Error(), "lock the cache") {
		t.Errorf("error %v", err)
	}
}

func TestVersionCache(t *testing.T) {
	dir := t.TempDir()
	c := newVersionCache(dir)
	if _, ok := c.Get("a"); ok {
		t.Error("an empty cache knows a")
	}
	c.Put("a", "1")
	c.Put("b", "2")
	again := newVersionCache(dir)
	if v, ok := again.Get("b"); !ok || v != "2" {
		t.Errorf("b is %q, %v in a new process", v, ok)
	}
	if left := leftIn(t, filepath.Join(dir, "cache")); len(left) != 1 {
		t.Errorf("files %q", left)
	}
}

func TestVersionCacheIsOnlyACache(t *testing.T) {
	for _, content := range []string{"", "null", "[]", "{", `{"a":1}`, "\xff"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "cache", "toolchains.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
		c := newVersionCache(dir)
		c.Put("k", "v")
		if v, ok := c.Get("k"); !ok || v != "v" {
			t.Errorf("%q: %q, %v", content, v, ok)
		}
	}
	// A place that cannot be written.
	c := newVersionCache("/proc/self/nowhere")
	c.Put("k", "v")
	if v, _ := c.Get("k"); v != "v" {
		t.Errorf("%q without a file", v)
	}
	// A directory stands where the file should be.
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cache", "toolchains.json", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	newVersionCache(dir).Put("k", "v")
	if left := leftIn(t, filepath.Join(dir, "cache")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestVersionCacheTogether(t *testing.T) {
	c := newVersionCache(t.TempDir())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			key := string(rune('a' + i))
			c.Put(key, key)
			if v, ok := c.Get(key); !ok || v != key {
				t.Errorf("%s: %q, %v", key, v, ok)
			}
		})
	}
	group.Wait()
	if again := newVersionCache(filepath.Dir(filepath.Dir(c.path))); len(again.all()) != 8 {
		t.Errorf("the file has %v", again.all())
	}
}

func (c *versionCache) all() map[string]string {
	c.once.Do(c.load)
	return c.seen
}
