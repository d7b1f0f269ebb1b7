package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// walked are the names that a walk visits.
func walked(t *testing.T, tree *fileTree, limit int) (names []string) {
	t.Helper()
	must(t, tree.Walk(limit, func(i sandbox.FileInfo) error { names = append(names, i.Path); return nil }))
	return names
}

func TestWalk(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	must(t, os.MkdirAll(host+"/a/b/c", 0o755), os.WriteFile(host+"/a/f", noise(1000), 0o640), os.Link(host+"/a/f", host+"/a/b/g"))
	must(t, os.Symlink("/", host+"/a/root"), os.Symlink("a", host+"/again"), unix.Mkfifo(host+"/a/fifo", 0o600), unix.Mknod(host+"/socket", unix.S_IFSOCK|0o600, 0))
	want := []string{"a", "a/b", "a/b/c", "a/b/g", "a/f", "a/fifo", "a/root", "again", "socket"}
	seen := map[string]bool{".": true}
	must(t, tree.Walk(100, func(i sandbox.FileInfo) error {
		info, err := os.Lstat(filepath.Join(host, i.Path))
		must(t, err)
		if i.Mode != info.Mode() || i.Size != info.Size() || !i.ModTime.Equal(info.ModTime()) {
			t.Errorf("%+v, want %v, %d bytes, %v", i, info.Mode(), info.Size(), info.ModTime())
		}
		var stat unix.Stat_t
		must(t, unix.Lstat(filepath.Join(host, i.Path), &stat))
		if i.Inode != stat.Ino || i.Links != uint64(stat.Nlink) {
			t.Errorf("%+v, want inode %d, %d links", i, stat.Ino, stat.Nlink)
		}
		if !seen[filepath.Dir(i.Path)] {
			t.Errorf("%s came before what it is in", i.Path)
		}
		seen[i.Path] = true
		return nil
	}))
	got := walked(t, tree, 100)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWalkManyNames: more than one buffer of names, and more than one message
// about them.
func TestWalkManyNames(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	const files = 1500
	must(t, os.Mkdir(host+"/d", 0o755))
	for i := range files {
		must(t, os.WriteFile(fmt.Sprintf("%s/d/%04d%s", host, i, strings.Repeat("x", 250)), nil, 0o644))
	}
	names := walked(t, tree, 10*files)
	slices.Sort(names)
	equal(t, "names", len(slices.Compact(names)), files+1)
	for _, limit := range []int{-1, 0, 1, 2, 255, 256, 257, 700, files, files + 1, files + 2} {
		names := walked(t, tree, limit)
		slices.Sort(names)
		equal(t, fmt.Sprintf("names of at most %d", limit), len(slices.Compact(names)), max(0, min(limit, files+1)))
	}
}

// TestWalkShortNames: of short names a buffer holds more than one message asks
// about.
func TestWalkShortNames(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	const files = 2000
	for i := range files {
		must(t, os.WriteFile(fmt.Sprintf("%s/%x", host, i), nil, 0o644))
	}
	names := walked(t, tree, 10*files)
	slices.Sort(names)
	equal(t, "names", len(slices.Compact(names)), files)
}

func TestWalkIsTold(t *testing.T) {
	w := start(t)
	tree, _ := w.tree(sandbox.WorkspaceDir)
	must(t, tree.put("a/f", ""), tree.put("b/f", ""))
	for err, want := range map[error]int{fs.SkipDir: 2, fs.SkipAll: 1} {
		n := 0
		must(t, tree.Walk(100, func(sandbox.FileInfo) error { n++; return err }))
		equal(t, fmt.Sprintf("names with %v", err), n, want)
	}
	broken := errors.New("broken")
	if err := tree.Walk(100, func(sandbox.FileInfo) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a visitor that fails: %v", err)
	}
}

func TestWalkDepth(t *testing.T) {
	w := start(t)
	tree, _ := w.tree(sandbox.WorkspaceDir)
	must(t, tree.MkdirAll(strings.TrimSuffix(strings.Repeat("d/", sandbox.MaxWalkDepth+20), "/")))
	equal(t, "directories", len(walked(t, tree, 1000)), sandbox.MaxWalkDepth)
	// The longest names that there are fit into a message, too.
	long := strings.Repeat("n", 255)
	must(t, tree.MkdirAll(strings.Repeat(long+"/", 100)+"dir"))
	for i := range 300 {
		must(t, tree.put(fmt.Sprintf("%s%03d%s", strings.Repeat(long+"/", 100), i, long[3:]), ""))
	}
	equal(t, "names", len(walked(t, tree, 1000)), sandbox.MaxWalkDepth+100+1+300)
}

// TestWalkVanishing: what a program takes away meanwhile, or closes, is passed
// over.
func TestWalkVanishing(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	must(t, tree.put("d/e/f", ""), tree.put("d/g", ""))
	n := 0
	must(t, tree.Walk(100, func(i sandbox.FileInfo) error {
		n++
		return os.RemoveAll(filepath.Join(host, i.Path))
	}))
	equal(t, "names", n, 1)

	must(t, tree.put("there", ""))
	infos, err := tree.lookAt("", []string{"gone", "there", "gone too"})
	must(t, err)
	if len(infos) != 1 || infos[0].Path != "there" {
		t.Errorf("%+v", infos)
	}
	infos, err = tree.lookAt("gone", []string{"a"})
	must(t, err)
	equal(t, "names in a directory that is gone", len(infos), 0)

	must(t, tree.put("closed/f", ""), tree.put("listed/f", ""), tree.put("zz/f", ""))
	must(t, os.Chmod(host+"/closed", 0), os.Chmod(host+"/listed", 0o444))
	names := walked(t, tree, 100)
	slices.Sort(names)
	if want := []string{"closed", "listed", "there", "zz", "zz/f"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	must(t, os.Chmod(host+"/closed", 0o755), os.Chmod(host+"/listed", 0o755))

	// A directory that becomes a link leads nowhere.
	must(t, tree.put("swap/f", ""))
	must(t, tree.Walk(100, func(i sandbox.FileInfo) error {
		if i.Path == "swap" {
			must(t, os.Rename(host+"/swap", host+"/.swapped"), os.Symlink("zz", host+"/swap"))
		}
		if i.Path == "swap/f" {
			t.Error("a directory that became a link was entered")
		}
		return nil
	}))
}
