package cgroup

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Scope holds the groups of one container whose init has a user id of its own
// and no privileges. On version 2 whoever starts a process in a group needs the
// right to write cgroup.procs of the group, and of the nearest group that has
// both it and the one that the starter is in. So init gets a group in which it
// is born, groups beside it for what it starts, and the right over just these:
//
//	sandbox-run/<scope>/          cgroup.procs is init's
//	  init/                       init is born here
//	  <name>/                     a Group; cgroup.procs is init's
//
// Version 1 checks the rights of whoever opened the tasks file, which are ours:
// there a scope is nothing.
type Scope struct {
	h     *Hierarchy
	name  string
	owner int
	init  *os.File // of version 2; nil elsewhere
}

const scopeInit = "init"

// Scope makes the scope of a container whose init has the user id owner. Where
// init has our own id (owner is negative) it is nothing but a name.
func (h *Hierarchy) Scope(name string, owner int) (*Scope, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	s := &Scope{h: h, name: name, owner: owner}
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
	path := t.parent + "/" + s.name
	err := t.base.mkdir(path)
	if errors.Is(err, os.ErrNotExist) { // somebody removed the parent
		if err = t.prepareAgain(); err == nil {
			err = t.base.mkdir(path)
		}
	}
	if err != nil {
		return err
	}
	for _, c := range t.uses {
		if c == Memory || c == CPU || c == PIDs || c == IO {
			if err := t.base.write(path+"/cgroup.subtree_control", "+"+string(c)); err != nil {
				return err
			}
		}
	}
	if err := t.base.mkdir(path + "/" + scopeInit); err != nil {
		return err
	}
	if err := t.base.chown(path+"/cgroup.procs", s.owner); err != nil {
		return err
	}
	s.init, err = t.base.open(path+"/"+scopeInit, unix.O_PATH|unix.O_DIRECTORY)
	return err
}

// InitDir is the directory of the group in which init must be born, for clone3
// with CLONE_INTO_CGROUP; false when it need not be.
func (s *Scope) InitDir() (*os.File, bool) { return s.init, s.init != nil }

// Create makes a group for a process that init will start; see
// [Hierarchy.Create].
func (s *Scope) Create(name string, l Limits) (*Group, error) {
	g := &Group{h: s.h, name: name, limits: l}
	t := s.tree()
	if t != nil {
		g.scope = s.name
	}
	g, err := s.h.create(g)
	if err != nil || t == nil {
		return g, err
	}
	if err := t.base.chown(t.file(g, "cgroup.procs"), s.owner); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make control group %s: %w", name, err), g.Delete())
	}
	return g, nil
}

// Delete removes the scope. Init must be dead and the groups deleted. A scope
// that is gone is no error.
func (s *Scope) Delete() error {
	t := s.tree()
	if t == nil {
		return nil
	}
	if s.init != nil {
		s.init.Close()
	}
	path := t.parent + "/" + s.name
	deadline := deleteDeadline()
	return errors.Join(t.remove(path+"/"+scopeInit, deadline), t.remove(path, deadline))
}
