package cgroup

import (
	"errors"
	"io/fs"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// A share is a group above those of several scopes. The kernel gives the groups
// beside each other equal CPU time, each as much as it wants of that, so that the
// scopes of one share get together what one without gets:
//
//	sandbox-run/<name>            a Group of a scope without a share
//	sandbox-run/<share>/<name>    one of a scope that has one
//
// It exists in the tree of the CPU controller alone, is made for the first of its
// scopes and removed with the last. Its name is one that no other process uses.

// enterShare makes a share for its first scope. The scope must leave it.
func (h *Hierarchy) enterShare(name string) (leave func() error, err error) {
	t := h.treeOf(CPU)
	if name == "" || t == nil {
		return func() error { return nil }, nil
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	h.sharing.Lock()
	defer h.sharing.Unlock()
	path := t.parent + "/" + name
	if h.shares[name] == 0 {
		if err := t.makeShare(path); err != nil {
			return nil, err
		}
	}
	h.shares[name]++
	inside := true
	return func() error { // again when it has failed
		h.sharing.Lock()
		defer h.sharing.Unlock()
		if inside {
			inside = false
			h.shares[name]--
		}
		if h.shares[name] > 0 {
			return nil
		}
		delete(h.shares, name)
		return t.remove(path, time.Now()) // busy if a scope has left something: no use waiting
	}, nil
}

// makeShare makes the group of a share, or takes the one that could not be
// removed.
func (t *tree) makeShare(path string) error {
	if err := t.mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fault.Point("share made")
	if err := t.handAllDown(path); err != nil {
		return errors.Join(err, t.base.rmdir(path))
	}
	return nil
}
