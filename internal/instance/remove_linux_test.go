package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tree is a directory that a program has made something of.
func tree(t *testing.T) *os.Root {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func removeWhole(t *testing.T, tree *os.Root) {
	t.Helper()
	if err := RemoveTree(tree.Name()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(tree.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}

func TestRemoveTree(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root := tree(t)
	err := errors.Join(
		root.MkdirAll("a/1/1", 0o700), root.MkdirAll("1/1/b", 0o700), // the names of what is moved
		root.WriteFile("a/file", nil, 0), root.WriteFile("2", nil, 0o600), root.WriteFile("a/1/3", nil, 0o600),
		root.Symlink(filepath.Dir(outside), "folder"), root.Symlink(outside, "a/file-outside"),
		unix.Mkfifo(filepath.Join(root.Name(), "a", "pipe"), 0),
		root.Chmod("a/1", 0), root.Chmod("a", 0), root.Chmod("1", 0o500),
	)
	if os.Geteuid() == 0 {
		err = errors.Join(err, root.Chown("1", 12345, 12345))
	}
	if err != nil {
		t.Fatal(err)
	}
	removeWhole(t, root)
	if _, err := os.Lstat(outside); err != nil {
		t.Errorf("what a link led to: %v", err)
	}
}

// A tree is removed that is deeper than a path is long.
func TestRemoveDeepTree(t *testing.T) {
	root := tree(t)
	name := strings.Repeat("d", 200)
	dir, err := root.OpenRoot(".")
	for range 3 * unix.PathMax / len(name) {
		if err != nil {
			t.Fatal(err)
		}
		var inner *os.Root
		if err = dir.Mkdir(name, 0o700); err == nil {
			inner, err = dir.OpenRoot(name)
		}
		dir.Close()
		dir = inner
	}
	if err != nil {
		t.Fatal(err)
	}
	dir.Close()
	removeWhole(t, root)
}

func TestRemoveNoTree(t *testing.T) {
	dir := t.TempDir()
	if err := RemoveTree(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "outside"), 0o700), os.Symlink("outside", link)); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(link); err == nil {
		t.Error("a link in the place of the tree was followed")
	}
}

// What somebody else has removed meanwhile is removed.
func TestRemoveGone(t *testing.T) {
	root := tree(t)
	if err := root.Mkdir("dir", 0o700); err != nil {
		t.Fatal(err)
	}
	top, err := os.Open(root.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	dir, err := os.Open(filepath.Join(root.Name(), "dir"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r := remover{top: top}
	if err := r.remove("gone"); err != nil {
		t.Errorf("an entry: %v", err)
	}
	if err := r.unlessGone(r.move(dir, "gone")); err != nil {
		t.Errorf("a directory in it: %v", err)
	}
	for range maxGone {
		err = r.remove("gone")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is listed for ever: %v", err)
	}
}

// Two remove a tree at once, and each is content.
func TestRemoveTogether(t *testing.T) {
	for range 20 {
		root := tree(t)
		for _, name := range []string{"a", "b", "c", "d", "a/1", "a/2", "b/1", "c/1/1/1"} {
			if err := root.MkdirAll(name, 0o700); err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				if err := root.WriteFile(filepath.Join(name, "f"+strconv.Itoa(i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		other := make(chan struct{})
		go func() {
			defer close(other)
			_ = os.RemoveAll(root.Name()) // which does not know that directories move
		}()
		removeWhole(t, root)
		<-other
	}
}
