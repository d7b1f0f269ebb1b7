package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A tree arrives whole on another file system, where a link cannot lead, and
// without what is neither a file nor a directory.
func TestLinkTreeAcrossFileSystems(t *testing.T) {
	source := t.TempDir()
	target, err := os.MkdirTemp("/dev/shm", "sandbox-run-test-") //nolint:usetesting // TempDir is on the source's file system
	if err != nil {
		t.Skipf("no second file system: %v", err)
	}
	defer os.RemoveAll(target)
	file := filepath.Join(source, "a", "b", "file")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("content"), 0o755); err != nil {
		t.Fatal(err)
	}
	dated := time.Date(2037, 12, 31, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(file, dated, dated); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	var made []string
	if err := linkTree(source, target, hardLink, func(dir string) error { made = append(made, dir); return nil }); err != nil {
		t.Fatal(err)
	}
	arrived := filepath.Join(target, "a", "b", "file")
	info, err := os.Stat(arrived)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(arrived)
	if err != nil || string(content) != "content" || info.Mode() != 0o755 || !info.ModTime().Equal(dated) {
		t.Errorf("%q (%v), mode %v of %v", content, err, info.Mode(), info.ModTime())
	}
	if _, err := os.Lstat(filepath.Join(target, "link")); !os.IsNotExist(err) {
		t.Errorf("the symbolic link: %v", err)
	}
	if len(made) != 2 {
		t.Errorf("made %q", made)
	}
}

// What a tool locks at the top of its cache is a file of the container's own, and what
// lies below is a link.
func TestTopOfACacheIsCopied(t *testing.T) {
	source, target := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(source, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trim.txt", "a/object"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := linkTree(source, target, ownAtTop(source, anyLink), nil); err != nil {
		t.Fatal(err)
	}
	for name, same := range map[string]bool{"trim.txt": false, "a/object": true} {
		before, err := os.Stat(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		if os.SameFile(before, after) != same || after.Size() != before.Size() {
			t.Errorf("%s: the same file %v, size %d", name, !same, after.Size())
		}
	}
}

// Where nobody insists on new files, a program is led to the directory itself, in which it
// may write nothing.
func TestOptionalOverlay(t *testing.T) {
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		optional bool
		walls    walls
		led      bool
	}{
		"optional": {true, wallsRestricted, true}, "not optional": {false, wallsRestricted, false}, "nothing holds it off": {true, wallsNone, false},
	} {
		c := &container{base: t.TempDir(), trees: make(map[string]*os.File), walls: tc.walls}
		if err := c.standIn(sandbox.Mount{Source: source, Target: "/cache", Overlay: true, OverlayOptional: tc.optional}); err != nil {
			t.Fatal(err)
		}
		if to := c.translatePath("/cache/file"); (to == filepath.Join(source, "file")) != tc.led {
			t.Errorf("%s: led to %s", name, to)
		}
		tree := c.trees["/cache"]
		if writable := tree != nil; writable == tc.led {
			t.Errorf("%s: writable %v", name, writable)
		}
		if tree != nil {
			tree.Close()
		}
	}
}
