package cgroup

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A process that dies leaves its groups, and whoever comes later knows them by their
// name, which is written in a file somewhere else. Where that file has gone, too, the
// groups alone have to tell whether their owner lives. So the owner holds a lock on the
// directory in which it makes them, at a place that comes from its name:
//
//   - The kernel lets it go at the owner's death, however that comes, and not before.
//   - It is on what all who see the groups have in common. Processes in other
//     namespaces, with other temporary directories or another user see it just so.
//   - It is taken before the first group is made, and no name is used twice: who is seen
//     without it will not come back.
//   - It is for reading, so that nobody can keep an owner from taking it who may not
//     write to the directory anyway. Who holds it as a stranger only has the groups of
//     the dead stay.

// lockOf is the lock of a name: one byte, which need not be there.
func lockOf(name string, kind int16) unix.Flock_t {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // always nil
	return unix.Flock_t{Type: kind, Start: int64(hash.Sum64() >> 1), Len: 1}
}

// lockedFile is in every group of either version.
const lockedFile = "cgroup.procs"

// HoldName tells whoever looks into a directory of control groups that the owner of
// this name lives, until the file is closed.
func HoldName(dir, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, lockedFile))
	if err != nil {
		return nil, fmt.Errorf("hold the name of control groups: %w", err)
	}
	lock := lockOf(name, unix.F_RDLCK)
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		f.Close()
		return nil, fmt.Errorf("hold the name of control groups in %s: %w", dir, err)
	}
	return f, nil
}

// NameHeld tells whether the owner of a name lives that makes groups in this directory.
func NameHeld(dir, name string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockedFile))
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := lockOf(name, unix.F_WRLCK)
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("look who holds the name %s in %s: %w", name, dir, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

// HoldName holds a name wherever this process makes groups, until the hierarchy is
// closed. It comes before the first of them.
func (h *Hierarchy) HoldName(name string) error {
	var errs []error
	for _, t := range h.trees {
		f, err := HoldName(t.base.Name(), name)
		t.held = f
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ReclaimForgotten removes the groups of whom nobody remembers: owner is the name that
// the owner of a group has held, or empty if the group is none of the caller's
// business. Nothing is killed: a group that a process is in stays, as do those above it.
func (h *Hierarchy) ReclaimForgotten(owner func(group string) string) (removed []string, err error) {
	var errs []error
	for _, t := range h.trees {
		names, err := t.base.subdirs(t.parent)
		errs = append(errs, ignoreGone(err))
		for _, group := range names {
			name := owner(group)
			if name == "" {
				continue
			}
			held, err := NameHeld(t.base.Name(), name)
			if held || err != nil {
				errs = append(errs, err)
				continue
			}
			empty, err := t.removeEmpty(t.parent + "/" + group)
			errs = append(errs, err)
			if empty {
				removed = append(removed, group)
			}
		}
	}
	return removed, errors.Join(errs...)
}

// removeEmpty removes a group and those below it, unless there are processes.
func (t *tree) removeEmpty(path string) (empty bool, err error) {
	below, err := t.base.subdirs(path)
	if ignoreGone(err) != nil {
		return false, err
	}
	for _, name := range below {
		if empty, err := t.removeEmpty(path + "/" + name); !empty || err != nil {
			return false, err
		}
	}
	err = t.base.rmdir(path)
	if errors.Is(err, unix.EBUSY) {
		return false, nil
	}
	return err == nil, err
}
