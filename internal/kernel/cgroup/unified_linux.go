package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// findUnified looks for the version 2 tree.
func (d *detector) findUnified() {
	i := slices.IndexFunc(d.mounts, func(m mount) bool { return m.version == 2 })
	if i < 0 {
		return
	}
	// Programs are born in their groups, which takes clone3. Without arguments it
	// is EINVAL, unless a filter hides it as Docker's once did.
	if _, _, errno := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0); errno == unix.ENOSYS || errno == unix.EPERM {
		d.deny(2, fmt.Errorf("%w: %w", errNoClone3, errno), controllers()...)
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
// first. Our own group is best where it was delegated to us. The root of the
// whole tree is for the super-user, whose own group usually belongs to systemd;
// it may hand controllers down while processes are in it. Otherwise our own
// group may do all the same: we find out.
func (d *detector) unifiedBases(m mount) ([]string, error) {
	mounted := d.root + m.point
	own, shown := within(d.paths[unified], m.root)
	own, _ = strings.CutSuffix(own, "/"+d.parent+selfSuffix) // we stepped aside before
	var bases []string
	if shown {
		bases = append(bases, filepath.Join(mounted, own))
	}
	if d.euid == 0 && isRootGroup(mounted) {
		if shown && isDelegated(filepath.Join(mounted, own)) {
			bases = append(bases, mounted)
		} else {
			bases = append([]string{mounted}, bases...)
		}
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
	t := &tree{version: 2, base: base, parent: d.parent, dead: &d.h.dead}
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
	want, err := d.handedDown(t)
	if err != nil {
		return err
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
	if t.base.exists(t.parent + "/cgroup.kill") {
		t.uses = append(t.uses, Kill)
	}
	if t.base.exists(t.parent + "/cpu.stat") {
		t.uses = append(t.uses, CPUAccounting)
	}
	return nil
}

// handedDown lists the controllers that reach our group, and denies the others.
func (d *detector) handedDown(t *tree) ([]Controller, error) {
	var buf [512]byte
	list, err := t.base.read("cgroup.controllers", buf[:])
	if err != nil {
		return nil, err
	}
	var have []Controller
	for _, c := range []Controller{Memory, CPU, PIDs, IO} {
		if slices.Contains(strings.Fields(string(list)), string(c)) {
			have = append(have, c)
			continue
		}
		d.deny(2, fmt.Errorf("%w: %s lists %q", errNotDelegated, t.base.path("cgroup.controllers"), strings.TrimSpace(string(list))), c)
	}
	return have, nil
}

// errNoClone3 says that somebody hides a system call from us.
var errNoClone3 = errors.New("clone3, by which programs are born in their groups, is hidden")

// errNotDelegated says that a controller stops somewhere above us.
var errNotDelegated = errors.New("the controller is not handed down to our group")
