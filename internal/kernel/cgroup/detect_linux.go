package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Options say where to look. The zero value is this machine.
type Options struct {
	// Parent is the name of the directory that holds the groups; empty is
	// sandbox-run.
	Parent string
	// Root is put in front of /proc and of every mount point, for tests.
	Root string
}

// DefaultParent is the directory that holds the groups of this program, below
// our own group or the root of a tree.
const DefaultParent = "sandbox-run"

// Hierarchy is what this host lets us do with control groups. It is safe for
// concurrent use.
type Hierarchy struct {
	trees   []*tree // version 2 first: its kill is atomic
	support map[Controller]Support
}

// detector holds what Detect has read.
type detector struct {
	root, parent string
	paths        map[string]string
	mounts       []mount
	h            *Hierarchy
}

// Detect finds the trees in which groups can be made, and makes in each the one
// directory that holds them. On version 2 it may move our own process into a
// group of its own, when nobody else is in ours. What cannot be used is no
// error: [Hierarchy.Controllers] tells why. An error means that /proc could not
// be read.
func Detect(o Options) (*Hierarchy, error) {
	d := detector{root: o.Root, parent: cmp.Or(o.Parent, DefaultParent)}
	if err := checkName(d.parent); err != nil {
		return nil, err
	}
	self, err := os.ReadFile(o.Root + "/proc/self/cgroup")
	if errors.Is(err, os.ErrNotExist) {
		self, err = nil, nil // a kernel without control groups
	}
	if err != nil {
		return nil, fmt.Errorf("cannot tell our own control groups: %w", err)
	}
	if d.paths, err = parseMembership(self); err != nil {
		return nil, fmt.Errorf("cannot read /proc/self/cgroup: %w", err)
	}
	info, err := os.ReadFile(o.Root + "/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cannot tell where control groups are mounted: %w", err)
	}
	if d.mounts, err = parseMounts(info); err != nil {
		return nil, fmt.Errorf("cannot read /proc/self/mountinfo: %w", err)
	}
	d.h = &Hierarchy{support: map[Controller]Support{}}
	d.findUnified()
	d.findLegacy()
	return d.h, nil
}

// Controllers tells for every controller whether and how it can be used.
func (h *Hierarchy) Controllers() map[Controller]Support {
	all := map[Controller]Support{}
	for _, c := range controllers() {
		s, ok := h.support[c]
		if !ok {
			s = Support{Reason: "this host has no " + string(c) + " control group",
				Mend: "boot Linux 5.14 or later with cgroup v2 (systemd.unified_cgroup_hierarchy=1 cgroup_enable=memory)"}
		}
		all[c] = s
	}
	return all
}

// Swap tells whether the memory limit covers swap. Without it a group with a
// memory limit may swap, unless the host has no swap.
func (h *Hierarchy) Swap() bool {
	t := h.treeOf(Memory)
	return t != nil && t.swap
}

// Close frees what Detect opened. No group may be in use any more; the groups
// themselves stay.
func (h *Hierarchy) Close() {
	for _, t := range h.trees {
		t.close()
	}
}

// treeOf returns the tree that serves a controller, or nil.
func (h *Hierarchy) treeOf(c Controller) *tree {
	for _, t := range h.trees {
		if t.has(c) {
			return t
		}
	}
	return nil
}

// add takes a tree that works.
func (h *Hierarchy) add(t *tree) {
	h.trees = append(h.trees, t)
	for _, c := range t.uses {
		h.support[c] = Support{Version: t.version}
	}
}

// deny notes why controllers cannot be used.
func (d *detector) deny(version int, err error, list ...Controller) {
	for _, c := range list {
		d.h.support[c] = Support{Reason: err.Error(), Mend: d.mend(version, err)}
	}
}

// findUnified looks for the version 2 tree.
func (d *detector) findUnified() {
	i := slices.IndexFunc(d.mounts, func(m mount) bool { return m.version == 2 })
	if i < 0 {
		return
	}
	bases, err := d.unifiedBases(d.mounts[i])
	for _, path := range bases {
		var t *tree
		if t, err = d.openUnified(path); err == nil {
			d.h.add(t)
			return
		}
	}
	d.deny(2, err, controllers()...)
}

// unifiedBases lists the directories below which groups might be made, best
// first. The root of the whole tree is for the super-user, whose own group
// usually belongs to systemd; it may hand controllers down while processes are
// in it. Otherwise it is our own group: delegated to us, or we find out.
func (d *detector) unifiedBases(m mount) ([]string, error) {
	mounted := d.root + m.point
	own, shown := within(d.paths[unified], m.root)
	own, _ = strings.CutSuffix(own, "/"+d.parent+selfSuffix) // we stepped aside before
	var bases []string
	if shown {
		bases = append(bases, filepath.Join(mounted, own))
	}
	if os.Geteuid() == 0 && isRootGroup(mounted) && !(shown && isDelegated(filepath.Join(mounted, own))) {
		bases = append([]string{mounted}, bases...)
	}
	if len(bases) == 0 {
		return nil, fmt.Errorf("our own group %s is not visible at %s, which shows %s", d.paths[unified], m.point, m.root)
	}
	return slices.Compact(bases), nil
}

// isRootGroup tells the root of the version 2 tree from the root of a cgroup
// namespace, which is an ordinary group and has a type.
func isRootGroup(path string) bool {
	_, err := os.Lstat(path + "/cgroup.type")
	return errors.Is(err, os.ErrNotExist)
}

// isDelegated tells whether systemd was asked to leave a group to us: Delegate=
// is shown as an extended attribute, user.delegate since systemd 251.
func isDelegated(path string) bool {
	var value [1]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(path, name, value[:]); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	return false
}

// openUnified tries a directory of the version 2 tree.
func (d *detector) openUnified(path string) (*tree, error) {
	base, err := openDir(path)
	if err != nil {
		return nil, err
	}
	t := &tree{version: 2, base: base, parent: d.parent}
	if err := d.tryUnified(t); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// tryUnified finds out by doing what the tree can be used for.
func (d *detector) tryUnified(t *tree) error {
	// clone3 with CLONE_INTO_CGROUP asks for the right to write this file.
	procs, err := t.base.open("cgroup.procs", unix.O_WRONLY)
	if err != nil {
		return err
	}
	procs.Close()
	var buf [512]byte
	list, err := t.base.read("cgroup.controllers", buf[:])
	if err != nil {
		return err
	}
	var want []Controller
	for _, c := range []Controller{Memory, CPU, PIDs, IO} {
		if slices.Contains(strings.Fields(string(list)), string(c)) {
			want = append(want, c)
		} else {
			d.deny(2, fmt.Errorf("%w: %s lists %q", errNotDelegated, t.base.path("cgroup.controllers"), strings.TrimSpace(string(list))), c)
		}
	}
	failed, err := t.prepare(want)
	if err != nil {
		return err
	}
	for _, c := range want {
		if failed[c] != nil {
			d.deny(2, failed[c], c)
		} else {
			t.uses = append(t.uses, c)
		}
	}
	for c, file := range map[Controller]string{Kill: "cgroup.kill", CPUAccounting: "cpu.stat"} {
		if t.base.exists(t.parent + "/" + file) {
			t.uses = append(t.uses, c)
		}
	}
	return nil
}

// errNotDelegated says that a controller stops somewhere above us.
var errNotDelegated = errors.New("the controller is not handed down to our group")

// findLegacy looks for version 1 trees of the controllers that version 2 does
// not have.
func (d *detector) findLegacy() {
	byMount := map[string]*tree{}
	for _, c := range []Controller{Memory, CPU, CPUAccounting, PIDs, IO} {
		if d.h.support[c].Version != 0 {
			continue
		}
		m := slices.IndexFunc(d.mounts, func(m mount) bool { return m.version == 1 && slices.Contains(m.controllers, legacyName(c)) })
		if m < 0 {
			continue
		}
		point := d.mounts[m].point
		if t := byMount[point]; t != nil {
			t.uses = append(t.uses, c)
			d.h.support[c] = Support{Version: 1}
			continue
		}
		t, err := d.openLegacy(d.mounts[m], c)
		if err != nil {
			d.deny(1, err, c)
			continue
		}
		byMount[point] = t
		d.h.add(t)
	}
}

// legacyName is what version 1 calls a controller.
func legacyName(c Controller) string {
	if c == IO {
		return "blkio"
	}
	return string(c)
}

// openLegacy tries our own group in a version 1 tree. The limits of that group
// then hold for ours too.
func (d *detector) openLegacy(m mount, c Controller) (*tree, error) {
	path := d.paths[legacyName(c)]
	own, shown := within(path, m.root)
	if !shown {
		return nil, fmt.Errorf("our own group %s is not visible at %s, which shows %s", path, m.point, m.root)
	}
	base, err := openDir(filepath.Join(d.root+m.point, own))
	if err != nil {
		return nil, err
	}
	t := &tree{version: 1, uses: []Controller{c}, base: base, parent: d.parent}
	t.home, err = base.open("tasks", unix.O_WRONLY)
	if err == nil {
		_, err = t.prepare(t.uses)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}
