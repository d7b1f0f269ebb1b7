package cgroup

import (
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

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
	t := &tree{version: 1, uses: []Controller{c}, base: base, parent: d.parent, dead: &d.h.dead}
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
