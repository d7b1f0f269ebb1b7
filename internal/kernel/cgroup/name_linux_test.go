package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// place is a directory as groups are made in, as far as locks go.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, lockedFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func held(t *testing.T, dir, name string) bool {
	t.Helper()
	held, err := NameHeld(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// A name is held until the last who holds it lets go, and no other name with it.
func TestHoldName(t *testing.T) {
	dir := place(t)
	first, err := HoldName(dir, "i1234-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	second, err := HoldName(dir, "i1234-0123456789abcdef")
	if err != nil {
		t.Fatalf("a stranger could keep us from it: %v", err)
	}
	for range 2 {
		if !held(t, dir, "i1234-0123456789abcdef") || held(t, dir, "i1234-0123456789abcdee") || held(t, place(t), "i1234-0123456789abcdef") {
			t.Error("not that name alone, or not in that place alone")
		}
		first.Close()
	}
	second.Close()
	if held(t, dir, "i1234-0123456789abcdef") {
		t.Error("it is held when nobody does")
	}
}

// Who may not write to a place cannot keep others from holding names there.
func TestStrangersHoldNothing(t *testing.T) {
	dir := place(t)
	stranger, err := os.Open(filepath.Join(dir, lockedFile))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	lock := lockOf("name", unix.F_WRLCK)
	if err := unix.FcntlFlock(stranger.Fd(), unix.F_OFD_SETLK, &lock); err == nil {
		t.Error("the kernel has given a lock for writing to who can only read")
	}
}

func TestNoPlace(t *testing.T) {
	if _, err := HoldName(t.TempDir(), "name"); err == nil || !strings.Contains(err.Error(), "hold the name") {
		t.Errorf("error %v", err)
	}
	if _, err := NameHeld(t.TempDir(), "name"); err == nil {
		t.Error("nobody can tell")
	}
}

func TestReclaimForgotten(t *testing.T) {
	h := live(t)
	create(t, h, "dead-1", Limits{})
	create(t, h, "dead-2", Limits{})
	busy := create(t, h, "busy-1", Limits{})
	create(t, h, "alive-1", Limits{})
	create(t, h, "foreign-1", Limits{})
	startIn(t, busy, again("sleep"))
	if err := h.HoldName("alive"); err != nil {
		t.Fatal(err)
	}
	for _, tr := range h.trees {
		if err := tr.base.mkdir(tr.parent + "/dead-2/below"); err != nil {
			t.Fatal(err)
		}
	}
	owner := func(group string) string {
		name, _, _ := strings.Cut(group, "-")
		if name == "foreign" {
			return ""
		}
		return name
	}
	removed, err := h.ReclaimForgotten(owner)
	slices.Sort(removed)
	if want := []string{"dead-1", "dead-2"}; err != nil || !slices.Equal(slices.Compact(removed), want) {
		t.Errorf("removed %q, want %q; %v", removed, want, err)
	}
	for _, tr := range h.trees {
		names, err := tr.base.subdirs(tr.parent)
		slices.Sort(names)
		if want := []string{"alive-1", "busy-1", "foreign-1"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s has %q, want %q; %v", tr.base.path(tr.parent), names, want, err)
		}
	}
	if empty, err := busy.Empty(); empty || err != nil {
		t.Errorf("what ran was killed: %v", err)
	}
}
