package cgroup

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Scope holds the groups of one container whose init has a user id of its own
// and no privileges. On version 2 whoever starts a process in a group needs the
// right to write cgroup.procs of the group, and of the nearest group that has
// both it and the one that the starter is in. So init gets a group in which it
// is born, groups beside it for what it starts, and the right over just these:
//
//	sandbox-run/<scope>/          cgroup.procs is init's
//	  init/                       init is born here, unless version 2 limits nothing:
//	                              then a group may have both processes and groups
//	  <name>/                     a Group; cgroup.procs is init's
//
// Version 1 checks the rights of whoever opened the tasks file, which are ours:
// there a scope is nothing.
//
// Scopes of one share have a group above them and their groups, see share_linux.go.
type Scope struct {
	h     *Hierarchy
	name  string
	share string // or empty
	owner int
	init  *os.File     // of version 2; nil elsewhere
	leave func() error // the share
}

const scopeInit = "init"

// Scope makes the scope of a container whose init has the user id owner. Where
// init has our own id (owner is negative) it is nothing but a name. The scopes of
// one share have the CPU time of one without; an empty share is none.
func (h *Hierarchy) Scope(name, share string, owner int) (_ *Scope, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	s := &Scope{h: h, name: name, share: share, owner: owner}
	if s.leave, err = h.enterShare(share); err != nil {
		return nil, fmt.Errorf("cannot make control group %s: %w", share, err)
	}
	t := s.tree()
	if t == nil {
		return s, nil
	}
	if err := s.make(t); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make control group %s: %w", name, err), s.Delete())
	}
	return s, nil
}

// tree is the tree in which the scope is a directory, or nil.
func (s *Scope) tree() *tree {
	if s.owner < 0 {
		return nil
	}
	for _, t := range s.h.trees {
		if t.version == 2 {
			return t
		}
	}
	return nil
}

func (s *Scope) make(t *tree) error {
	path := t.place(s)
	if err := t.mkdir(path); err != nil {
		return err
	}
	fault.Point("scope made")
	if err := t.handAllDown(path); err != nil {
		return err
	}
	if err := t.base.chown(path+"/cgroup.procs", s.owner); err != nil {
		return err
	}
	if len(t.controllers()) > 0 {
		path += "/" + scopeInit
		if err := t.base.mkdir(path); err != nil {
			return err
		}
	}
	fault.Point("group of init made")
	var err error
	s.init, err = t.base.open(path, unix.O_PATH|unix.O_DIRECTORY)
	return err
}

// InitDir is the directory of the group in which init must be born, for clone3
// with CLONE_INTO_CGROUP; false when it need not be.
func (s *Scope) InitDir() (*os.File, bool) { return s.init, s.init != nil }

// Create makes a group for a process that init will start; see
// [Hierarchy.Create].
func (s *Scope) Create(name string, l Limits) (*Group, error) {
	g, err := s.h.create(&Group{h: s.h, scope: s, name: name, limits: l})
	t := s.tree()
	if err != nil || t == nil {
		return g, err
	}
	if err := t.base.chown(t.file(g, "cgroup.procs"), s.owner); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make control group %s: %w", name, err), g.Delete())
	}
	return g, nil
}

// Withdraw takes from the init of the group's scope the right to start processes in it: root does,
// who may have no right over what is another's.
func (g *Group) Withdraw() error {
	if g.scope == nil || g.scope.tree() == nil {
		return nil
	}
	t := g.scope.tree()
	return t.base.chown(t.file(g, "cgroup.procs"), 0)
}

// Delete removes the scope, and its share with the last one. Init must be dead and
// the groups deleted. A scope that is gone is no error.
func (s *Scope) Delete() error {
	t := s.tree()
	if t == nil {
		return s.leave()
	}
	if s.init != nil {
		s.init.Close()
	}
	path := t.place(s)
	deadline := deleteDeadline()
	var err error
	if len(t.controllers()) > 0 {
		err = t.remove(path+"/"+scopeInit, deadline)
	}
	fault.Point("group of init removed")
	return errors.Join(err, t.remove(path, deadline), s.leave())
}
