package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// gather collects from a tree as a run would.
func gather(tree *fakeTree, before map[string]sandbox.FileInfo, req Request) collected {
	r := &run{req: req, workspace: tree, disk: sandbox.DiskLimit{Bytes: 256 << 20}, plan: language.Plan{Leftovers: []string{"__pycache__"}}}
	return r.gatherFiles(context.Background(), before)
}

func newTree(names ...string) *fakeTree {
	t := &fakeTree{names: map[string]fakeFile{}}
	for _, n := range names {
		t.put(n, []byte(n), 0o644)
	}
	return t
}

func (t *fakeTree) edit(name string, change func(f *fakeFile)) {
	f := t.names[name]
	f.Path = name
	change(&f)
	t.names[name] = f
}

func TestOnlyWhatChangedIsCollected(t *testing.T) {
	tree := newTree("same", "grown", "touched", "replaced", "removed", "__pycache__/x")
	before, err := snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	tree.put("new", []byte("\xff"), 0o755)
	tree.edit("grown", func(f *fakeFile) { f.content, f.Size = []byte("grown!"), 6 })
	tree.edit("touched", func(f *fakeFile) { f.ModTime = time.Unix(2, 0) })
	tree.edit("replaced", func(f *fakeFile) { f.Inode = 99 })
	tree.edit("dir", func(f *fakeFile) { f.Mode = fs.ModeDir | 0o755 })
	tree.put("__pycache__/y", nil, 0o644)
	delete(tree.names, "removed")
	got := gather(tree, before, Request{})
	want := map[string]api.File{
		"new":      {Content: "/w==", Encoding: "base64", Size: 1, Mode: "0755"},
		"grown":    {Content: "grown!", Encoding: "utf8", Size: 6, Mode: "0644"},
		"touched":  {Content: "touched", Encoding: "utf8", Size: 7, Mode: "0644"},
		"replaced": {Content: "replaced", Encoding: "utf8", Size: 8, Mode: "0644"},
	}
	if diff := cmp.Diff(want, got.files); diff != "" || got.err != nil || len(got.skipped) != 0 {
		t.Errorf("%s, %v, skipped %v", diff, got.err, got.skipped)
	}
}

// The clock of the file system may not have ticked between an input and what the program
// writes in its place: then the content tells.
func TestChangeWithinATick(t *testing.T) {
	for after, want := range map[time.Duration]int{0: 1, 2 * maxTick: 0} {
		synctest.Test(t, func(t *testing.T) {
			rt := &fakeRuntime{program: func(_ sandbox.Process, r *fakeRunning) sandbox.Exit {
				tree := r.container.trees[sandbox.WorkspaceDir]
				tree.edit("changed", func(f *fakeFile) { f.content = []byte("two") })
				tree.edit("closed", func(f *fakeFile) { f.openErr = fs.ErrPermission })
				return sandbox.Exit{}
			}}
			one := InputFile{Content: []byte("one")}
			req, e := echo(), newFakeExecutor(rt)
			req.Files = map[string]InputFile{"changed": one, "closed": one, "same": one}
			a, err := e.Admit(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			plan := a.run.plan.Run
			a.run.plan.Run = func(build sandbox.FileTree) (language.Step, error) {
				time.Sleep(after)
				return plan(build)
			}
			res, err := a.Run(t.Context(), nil)
			if err != nil || len(res.Files) != want || len(res.FilesSkipped) != want {
				t.Fatalf("%+v, %v, want %d", res, err, want)
			}
			if want > 0 && (res.Files["changed"].Content != "two" || res.FilesSkipped[0].Path != "closed") {
				t.Errorf("files %v, skipped %v", res.Files, res.FilesSkipped)
			}
		})
	}
}

// What was written before the latest tick needs no look: of ten thousand inputs few are left.
func TestDoubtfulInputs(t *testing.T) {
	at := func(second int64) sandbox.FileInfo { return sandbox.FileInfo{ModTime: time.Unix(second, 0)} }
	r := &run{filled: time.Now().Add(time.Hour), req: Request{Files: map[string]InputFile{"early": {}, "a": {}, "forgotten": {}}},
		plan: language.Plan{Files: map[string][]byte{"b": nil}}}
	got := r.doubtfulInputs(map[string]sandbox.FileInfo{"early": at(1), "a": at(2), "b": at(2), "other": at(3)})
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q", names)
	}
}

func TestCollectNamesWhatIsWanted(t *testing.T) {
	tree := newTree("a.txt", "out/b.txt", "out/deep/c", "__pycache__/x")
	for _, tc := range []struct {
		collect []string
		want    []string
	}{
		{nil, []string{"a.txt", "out/b.txt", "out/deep/c"}},
		{[]string{}, nil},
		{[]string{"out"}, []string{"out/b.txt", "out/deep/c"}},
		{[]string{"*.txt", "__pycache__"}, []string{"__pycache__/x", "a.txt"}},
		{[]string{"nothing"}, nil},
	} {
		got := gather(tree, nil, Request{Collect: tc.collect})
		var names []string
		for name := range got.files {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(tc.want, names); diff != "" {
			t.Errorf("%v: %s", tc.collect, diff)
		}
	}
}

func TestSkippedFilesHaveAReason(t *testing.T) {
	tree := newTree("big", "gone", "unreadable", "bad\xffname")
	for name, mode := range map[string]fs.FileMode{
		"link": fs.ModeSymlink, "fifo": fs.ModeNamedPipe, "sock": fs.ModeSocket, "dev": fs.ModeDevice,
	} {
		tree.edit(name, func(f *fakeFile) { f.Mode = mode | 0o644 })
	}
	tree.edit("big", func(f *fakeFile) { f.Size = 5 << 30 })
	tree.edit("gone", func(f *fakeFile) { f.openErr = fs.ErrNotExist })
	tree.edit("unreadable", func(f *fakeFile) { f.readErr = errors.New("disk on fire") })
	got := gather(tree, nil, Request{})
	want := []api.SkippedFile{
		{Path: "bad\uFFFDname", Reason: "the name is not valid UTF-8"},
		{Path: "big", Reason: "too large: 5 GiB, with 1 MiB left of what is collected"},
		{Path: "dev", Reason: "not a regular file: device"},
		{Path: "fifo", Reason: "not a regular file: named pipe"},
		{Path: "gone", Reason: "cannot be read: file does not exist"},
		{Path: "link", Reason: "not a regular file: symbolic link"},
		{Path: "sock", Reason: "not a regular file: socket"},
		{Path: "unreadable", Reason: "cannot be read: disk on fire"},
	}
	if diff := cmp.Diff(want, got.skipped); diff != "" || len(got.files) != 0 || got.err != nil {
		t.Errorf("%s, files %v, %v", diff, got.files, got.err)
	}
}

func TestCollectIsBounded(t *testing.T) {
	tree := newTree()
	for i := range defaultCollectFiles + 3 {
		tree.put(fmt.Sprintf("%03d", i), nil, 0o644)
	}
	got := gather(tree, nil, Request{})
	if len(got.files) != defaultCollectFiles || len(got.skipped) != 3 || got.skipped[0].Reason != "too many files" {
		t.Errorf("%d files, skipped %v", len(got.files), got.skipped)
	}
	if named := gather(tree, nil, Request{Collect: []string{"*"}}); len(named.files) != defaultCollectFiles+3 {
		t.Errorf("%d files when asked for by name", len(named.files))
	}

	tree = newTree()
	for i := range 5 {
		tree.put(fmt.Sprint(i), make([]byte, 300<<10), 0o644)
	}
	got = gather(tree, nil, Request{})
	if len(got.files) != 3 || len(got.skipped) != 2 {
		t.Errorf("%d files of 300 KiB, skipped %v", len(got.files), got.skipped)
	}
}

// A program can make more names than anybody wants to read, each 32 KiB long. They are
// counted, and in no other way in the result.
func TestSkippedFilesAreBounded(t *testing.T) {
	const extra = 2000
	tree := newTree()
	long := strings.Repeat(strings.Repeat("é", 127)+"/", sandbox.MaxWalkDepth)
	for i := range maxSkipped + extra {
		name := fmt.Sprintf("%s%05d", long, i)
		tree.edit(name, func(f *fakeFile) { f.Mode = fs.ModeSymlink | 0o777 })
	}
	tree.put(strings.Repeat("d/", maxPath/2)+"f", nil, 0o644)
	before, err := snapshot(t.Context(), tree)
	if err != nil || len(before)*len(long) > maxRemembered {
		t.Errorf("%d names are remembered, %v", len(before), err)
	}
	got := gather(tree, nil, Request{})
	text, err := json.Marshal(got.skipped)
	if err != nil || len(got.skipped) != maxSkipped+1 || len(text) > maxSkipped*(2*maxSkippedText+50) || len(got.files) != 0 {
		t.Fatalf("%d skipped, %d bytes, %d files, %v", len(got.skipped), len(text), len(got.files), err)
	}
	if diff := cmp.Diff(api.SkippedFile{Path: "…", Reason: fmt.Sprintf("%d more were skipped", extra+1)}, got.skipped[maxSkipped]); diff != "" {
		t.Error(diff)
	}
	if first := got.skipped[0]; first.Path != strings.Repeat("d/", maxSkippedText/2)+"…" || first.Reason != "the path is longer than 4096 bytes" {
		t.Errorf("%+v", first)
	}
}

// What is not looked at is told, once for all of it.
func TestUnseenFilesAreTold(t *testing.T) {
	dir := func(tree *fakeTree, name string) {
		tree.edit(name, func(f *fakeFile) { f.Mode = fs.ModeDir | 0o755 })
	}
	shallow, deep := newTree("a"), newTree("a")
	level := "d" + strings.Repeat("/d", sandbox.MaxWalkDepth-2)
	dir(shallow, level)
	dir(deep, level+"/d")
	dir(deep, level+"/e")
	many := newTree("a")
	for i := range maxWalk {
		many.put(fmt.Sprintf("%06d", i), nil, 0o644)
	}
	for _, c := range []struct {
		tree *fakeTree
		want []api.SkippedFile
	}{
		{shallow, nil},
		{deep, []api.SkippedFile{{Path: "…", Reason: "2 directories lie too deep to be looked into"}}},
		{many, []api.SkippedFile{{Path: "…", Reason: "no more than 200000 names are looked at"}}},
	} {
		got := gather(c.tree, nil, Request{Collect: []string{"a"}})
		if diff := cmp.Diff(c.want, got.skipped); diff != "" {
			t.Error(diff)
		}
	}
}

// What an error says of a file may have its path.
func TestReasonIsBounded(t *testing.T) {
	tree := newTree("a")
	tree.edit("a", func(f *fakeFile) {
		f.openErr = &fs.PathError{Op: "open", Path: strings.Repeat("\xff", 1<<15), Err: fs.ErrPermission}
	})
	got := gather(tree, nil, Request{})
	if len(got.skipped) != 1 || len(got.skipped[0].Reason) > 4*maxSkippedText || !utf8.ValidString(got.skipped[0].Reason) {
		t.Errorf("%.500v", got.skipped)
	}
}

// Control characters are six bytes each in JSON: what is mostly such is sent as what it
// is, bytes.
func TestControlsAreNoText(t *testing.T) {
	tree := newTree()
	for content, want := range map[string]string{"\x00\x00a": "base64", "\x1b[1mbold\x1b[0m": "utf8", "\n\r\t\n": "utf8", "": "utf8", "a\x00b\x00": "utf8"} {
		tree.put("f", []byte(content), 0o644)
		if got := gather(tree, nil, Request{}).files["f"]; got.Encoding != want || got.Size != int64(len(content)) {
			t.Errorf("%q: %+v, want %s", content, got, want)
		}
	}
}

// A file that grows behind our back is cut, never more than what was left.
func TestCollectReadsNoMoreThanIsLeft(t *testing.T) {
	tree := newTree("a")
	tree.edit("a", func(f *fakeFile) { f.content = bytes.Repeat([]byte("x"), 3<<20) }) // Size says 1
	got := gather(tree, nil, Request{})
	if n := len(got.files["a"].Content); n > defaultCollectBytes {
		t.Errorf("%d bytes were read", n)
	}
}

func TestOnFileStreams(t *testing.T) {
	tree := newTree("a", "b")
	tree.put("large", make([]byte, 100<<20), 0o644)
	got := map[string]int64{}
	req := Request{OnFile: func(f sandbox.FileInfo, content io.Reader) error {
		n, err := io.Copy(io.Discard, content)
		got[f.Path] = n
		return err
	}}
	c := gather(tree, nil, req)
	if diff := cmp.Diff(map[string]int64{"a": 1, "b": 1, "large": 100 << 20}, got); diff != "" || len(c.files) != 0 || c.err != nil {
		t.Errorf("%s, files %v, %v", diff, c.files, c.err)
	}
	full := errors.New("our disk is full")
	req.OnFile = func(sandbox.FileInfo, io.Reader) error { return full }
	if c := gather(tree, nil, req); !errors.Is(c.err, full) {
		t.Errorf("error %v, want the caller's", c.err)
	}
}

func TestWalkErrorIsOurs(t *testing.T) {
	tree := newTree("a")
	tree.walkErr = errors.New("no tree")
	if c := gather(tree, nil, Request{}); c.err == nil || len(c.files) != 1 {
		t.Errorf("error %v, files %v", c.err, c.files)
	}
}

// Who cancels a run while its files are collected is waited for no longer. Who has stopped
// the program wants what it has made, and who has gone wants nothing.
func TestCancelledCollect(t *testing.T) {
	for when, want := range map[string]int{"while": 1, "stopped": 3, "gone": 0} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				rt := &fakeRuntime{program: func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
					for _, name := range []string{"a", "b", "c"} {
						r.container.trees[sandbox.WorkspaceDir].put(name, nil, 0o644)
					}
					switch when {
					case "stopped":
						cancel(nil)
						return untilTerm(p, r)
					case "gone":
						cancel(sandbox.ErrAbandoned)
						return untilTerm(p, r)
					}
					return sandbox.Exit{}
				}}
				req, collected := echo(), 0
				req.OnFile = func(sandbox.FileInfo, io.Reader) error {
					collected++
					if when == "while" {
						cancel(nil)
					}
					return nil
				}
				res, err := newFakeExecutor(rt).Run(ctx, req, nil)
				if err != nil || res.Status != api.StatusCancelled || collected != want {
					t.Errorf("%+v, %v: %d files, want %d", res, err, collected, want)
				}
				rt.checkDeleted(t)
			})
		})
	}
}

// TestFilledMemory: where the memory is so full of what a program has made that nobody can
// look at it, that is the program's doing, however it has ended.
func TestFilledMemory(t *testing.T) {
	for code, want := range map[int]api.Status{0: api.StatusMemoryLimit, 3: api.StatusRuntimeError} {
		rt := &fakeRuntime{program: func(_ sandbox.Process, r *fakeRunning) sandbox.Exit {
			r.container.trees[sandbox.WorkspaceDir].walkErr = fmt.Errorf("gone: %w", sandbox.ErrOutOfMemory)
			return sandbox.Exit{Code: code}
		}}
		res, err := newFakeExecutor(rt).Run(t.Context(), echo(), nil)
		if err != nil || res.Status != want || !slices.ContainsFunc(res.Meta.Warnings, func(w string) bool { return strings.Contains(w, "are lost") }) {
			t.Errorf("%d: %+v, %v", code, res, err)
		}
		if limit := res.Limit; code == 0 && (limit == nil || limit.Name != api.LimitMemory) {
			t.Errorf("limit %+v", limit)
		}
	}
	next := &fakeRuntime{startErr: fmt.Errorf("gone: %w", sandbox.ErrOutOfMemory)}
	if res, err := newFakeExecutor(next).Run(t.Context(), echo(), nil); err != nil || res.Status != api.StatusMemoryLimit || res.Limit == nil {
		t.Errorf("before it is started: %+v, %v", res, err)
	}
}
