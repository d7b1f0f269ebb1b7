package local

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// What gives access to a container's files goes with it: an open directory keeps a
// file system in memory, with all that a program has left there, after every limit of
// the program's is gone.
func TestFilesAreClosed(t *testing.T) {
	rt, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		var nothingMore func()
		for i := range 3 {
			if i == 1 { // what stays open from the first time on
				nothingMore = sandboxtest.NothingMore(t)
			}
			c, err := rt.Create(t.Context(), sandbox.Spec{Level: level, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
			if _, unsupported := errors.AsType[*sandbox.UnsupportedError](err); unsupported {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{sandbox.WorkspaceDir, sandbox.WorkspaceDir} {
				tree, err := c.Files(dir)
				if err == nil {
					err = tree.WriteFile("left", strings.NewReader("x"), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Files(sandbox.WorkspaceDir); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("files of a container that is gone: %v", err)
			}
		}
		nothingMore()
	}
}
