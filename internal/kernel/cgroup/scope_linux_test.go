package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestScopeOfAnother: init is born where it may start processes in the groups of its scope, and
// in one of them no longer when that is taken from it. A group of its own is made for it where
// controllers are handed down alone.
func TestScopeOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has processes of others")
	}
	h := live(t)
	const owner = 12345
	s, err := h.Scope("another", "", owner)
	if err != nil {
		t.Fatal(err)
	}
	tree := s.tree()
	if tree == nil {
		t.Skip("there is no tree of version 2")
	}
	g, err := s.Create("another-1", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	who := func(file string) uint32 {
		var st unix.Stat_t
		if err := unix.Fstatat(tree.base.fd(), file, &st, 0); err != nil {
			t.Fatal(err)
		}
		return st.Uid
	}
	dir, _ := s.InitDir()
	want := tree.place(s)
	if slices.ContainsFunc([]Controller{Memory, CPU, PIDs, IO}, tree.has) {
		want += "/init"
	}
	if at, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd())); at != filepath.Join(tree.base.Name(), want) {
		t.Errorf("init is born in %s, want it in %s", at, want)
	}
	for file, want := range map[string]uint32{tree.place(s) + "/cgroup.procs": owner, tree.file(g, "cgroup.procs"): owner} {
		if got := who(file); got != want {
			t.Errorf("%s is user %d's, want it %d's", file, got, want)
		}
	}
	if err := g.Withdraw(); err != nil || who(tree.file(g, "cgroup.procs")) != 0 {
		t.Errorf("it was to be taken from init: %v, and it is user %d's", err, who(tree.file(g, "cgroup.procs")))
	}
	if err := errors.Join(g.Delete(), s.Delete()); err != nil || tree.base.exists(tree.place(s)) {
		t.Errorf("a scope is left: %v", err)
	}
}
