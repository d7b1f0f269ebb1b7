package kept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Half of a directory is never taken for whole: here a part of it cannot be removed, as
// when the process is killed meanwhile.
func TestRemovedHalfWay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
	limits := DefaultLimits()
	limits.OwnerBytes = 9 * pageBytes
	s, dir := opened(t, limits)
	other := key
	other.Name = "other"
	if err := s.Keep(t.Context(), key, archive(t, file("d/a", "x"), file("d/m/f", "x"))); err != nil {
		t.Fatal(err)
	}
	tree, release, err := s.Hold(key)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := unix.Mount("tmpfs", filepath.Join(tree, "d/m"), "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("this test mounts: %v", err)
	}
	defer func() {
		lines, _ := os.ReadFile("/proc/self/mounts")
		for line := range strings.Lines(string(lines)) {
			if at := strings.Fields(line)[1]; strings.HasPrefix(at, dir) {
				if err := unix.Unmount(at, 0); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	if err := s.Keep(t.Context(), other, archive(t, file("f", "x"))); err == nil {
		t.Fatal("what cannot be removed was")
	}
	again, err := Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, s := range []*Store{s, again} {
		if ok, err := s.Has(key); ok || err != nil {
			t.Errorf("half of it is kept: %v, %v", ok, err)
		}
	}
}
