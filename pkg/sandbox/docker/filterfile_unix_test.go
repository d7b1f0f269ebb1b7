//go:build unix

package docker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemoveFilters removes files of dead clients, and is held up by nothing that others
// have made of such a name.
func TestRemoveFilters(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	named := func(what string) string { return filepath.Join(dir, "sandbox-run-seccomp-"+what+".json") }
	alive, remove, err := writeFilter("{}")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for _, name := range []string{named("dead"), other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range map[string]error{
		"fifo": unix.Mkfifo(named("fifo"), 0o666), "device": os.Symlink("/dev/tty", named("device")),
		"link": os.Symlink(filepath.Base(named("dead")), named("link")), "outside": os.Symlink(other, named("outside")),
		"directory": os.Mkdir(named("directory"), 0o777),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	removed, err := removeFilters()
	if want := []string{named("dead")}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v; expected %q", removed, err, want)
	}
	for _, path := range []string{alive, other, named("fifo"), named("device"), named("link"), named("outside"), named("directory")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	remove()
	if _, err := os.Lstat(alive); err == nil {
		t.Error("a filter that nobody needs is still there")
	}
}
