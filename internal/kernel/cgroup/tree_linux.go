package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// tree is one cgroup hierarchy and the place in it where groups are made.
type tree struct {
	version  int
	uses     []Controller // what it limits, counts or does for us
	base     dir          // of the group that holds parent
	parent   string       // made by prepare; holds the groups
	swap     bool         // the memory limit can cover swap
	resident bool         // the groups are kept from swapping
	home     *os.File     // version 1: the tasks file of the group that we are in
	dead     *dead        // the hierarchy's
	held     *os.File     // has the lock of our name; nil without one
}

// has tells whether a controller is used in this tree.
func (t *tree) has(c Controller) bool { return slices.Contains(t.uses, c) }

// path is the directory of a group, relative to base.
func (t *tree) path(g *Group) string { return t.place(g.scope) + "/" + g.name }

// place is the directory that holds the groups of a scope, relative to base.
func (t *tree) place(s *Scope) string {
	path := t.parent
	if s == nil {
		return path
	}
	if s.share != "" && t.has(CPU) {
		path += "/" + s.share
	}
	if t == s.tree() {
		path += "/" + s.name
	}
	return path
}

// file is the name of a file of a group, relative to base.
func (t *tree) file(g *Group, name string) string { return t.path(g) + "/" + name }

// tries is how often something is made anew that others have removed.
const tries = 10

// prepare makes the parent of all groups and hands the controllers that are
// wanted down to it. It returns the controllers that failed. It may be called
// again, after somebody has removed the parent, as every process of ours does
// that leaves it empty ([Hierarchy.Close]); when that happens in the middle it
// starts anew.
func (t *tree) prepare(want []Controller) (failed map[Controller]error, err error) {
	for range tries {
		failed, err = t.tryPrepare(want)
		if t.base.exists(t.parent) {
			break
		}
	}
	return failed, err
}

func (t *tree) tryPrepare(want []Controller) (map[Controller]error, error) {
	if err := t.base.mkdir(t.parent); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fault.Point("parent of control groups made")
	failed := map[Controller]error{}
	if t.version == 2 {
		want = slices.DeleteFunc(slices.Clone(want), func(c Controller) bool { return c == CPUAccounting || c == Kill })
		t.handDown("", want, failed)
		t.handDown(t.parent+"/", want, failed)
	} else if slices.Contains(want, Memory) {
		// Groups inherit it. Where memory.memsw is missing this is all that
		// keeps a group from swapping; where it is there, nothing depends on it.
		t.resident = t.base.write(t.parent+"/memory.swappiness", "0") == nil
	}
	t.swap = t.base.exists(t.parent+"/memory.swap.max") || t.base.exists(t.parent+"/memory.memsw.limit_in_bytes")
	return failed, nil
}

// handDown lets the groups below a version 2 group use controllers, and notes
// those that failed. The prefix is empty for base, or a path with a slash.
func (t *tree) handDown(prefix string, want []Controller, failed map[Controller]error) {
	file := prefix + "cgroup.subtree_control"
	var buf [512]byte
	data, err := t.base.read(file, buf[:])
	have := strings.Fields(string(data))
	missing := slices.DeleteFunc(slices.Clone(want), func(c Controller) bool {
		return failed[c] != nil || slices.Contains(have, string(c))
	})
	if err == nil && len(missing) > 0 && prefix == "" {
		err = t.makeRoom()
	}
	for _, c := range missing {
		failed[c] = err
		if err == nil {
			failed[c] = t.base.write(file, "+"+string(c))
		}
	}
	maps.DeleteFunc(failed, func(_ Controller, err error) bool { return err == nil })
}

// handAllDown lets the groups below a new version 2 group use what the tree is
// used for. It is one write because older kernels wait for a grace period of RCU
// in each.
func (t *tree) handAllDown(path string) error {
	all := t.controllers()
	if t.version == 1 || len(all) == 0 {
		return nil
	}
	return t.write(path+"/cgroup.subtree_control", "+"+strings.Join(all, " +"))
}

// controllers are those that must be handed down, by name.
func (t *tree) controllers() (names []string) {
	for _, c := range t.uses {
		if c != CPUAccounting && c != Kill { // which every group has
			names = append(names, string(c))
		}
	}
	return names
}

// errNotAlone stops us from making room in a group that others live in.
var errNotAlone = errors.New("other processes are in our own group")

// makeRoom sees to it that no process is in base, unless it is the root: only
// then may a version 2 group hand controllers down. For memory and io the kernel
// insists on it; cpu and pids it would hand down all the same, but turn the
// group into a threaded one, in which processes cannot be started any more. Our
// own process moves into a group beside parent, the slow way, which happens once.
// Other processes are not ours to move.
func (t *tree) makeRoom() error {
	var buf [4096]byte
	list, err := t.base.read("cgroup.procs", buf[:])
	if err != nil || len(list) == 0 || !t.base.exists("cgroup.type") {
		return err
	}
	if strings.TrimSpace(string(list)) != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("cannot hand controllers down from %s: %w", t.base.Name(), errNotAlone)
	}
	if err := t.base.mkdir(t.parent + selfSuffix); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.base.write(t.parent+selfSuffix+"/cgroup.procs", "0")
}

// selfSuffix ends the name of the group that makeRoom moves us to.
const selfSuffix = ".self"

// close releases the descriptors.
func (t *tree) close() {
	t.base.Close()
	for _, f := range []*os.File{t.home, t.held} {
		if f != nil {
			f.Close()
		}
	}
}
