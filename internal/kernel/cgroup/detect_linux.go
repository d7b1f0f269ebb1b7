package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
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
	hasSwap bool // this host

	sharing sync.Mutex     // held while the group of a share is made or removed
	shares  map[string]int // how many scopes each share has

	dead dead
}

// detector holds what Detect has read.
type detector struct {
	root, parent string
	euid         int
	paths        map[string]string
	mounts       []mount
	h            *Hierarchy
}

// Detect finds the trees in which groups can be made, and makes in each the one
// directory that holds them. On version 2 it may move our own process into a
// group of its own, when nobody else is in ours: call it before anything is
// started. What cannot be used is no error: [Hierarchy.Controllers] tells why.
// An error means that /proc could not be read.
func Detect(o Options) (*Hierarchy, error) {
	d := detector{root: o.Root, parent: cmp.Or(o.Parent, DefaultParent), euid: os.Geteuid()}
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
	d.h = &Hierarchy{support: map[Controller]Support{}, shares: map[string]int{}, hasSwap: HasSwap(os.DirFS(cmp.Or(o.Root, "/")))}
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

// Has tells whether a controller can be used.
func (h *Hierarchy) Has(c Controller) bool { return h.support[c].Version != 0 }

// SwapsBeside tells whether a group may have swap beside its limit of memory: this host has
// some, and the kernel neither counts it with the group nor keeps the group from it.
func (h *Hierarchy) SwapsBeside() bool {
	t := h.treeOf(Memory)
	return t != nil && h.hasSwap && !t.swap && !t.resident
}

// Close frees what Detect opened and removes the directory that held the groups,
// unless there are others in it. No group of ours may be in use any more.
func (h *Hierarchy) Close() {
	for _, t := range h.trees {
		_ = t.base.rmdir(t.parent) // EBUSY: somebody else's groups
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
