package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Empty tells whether no process is left in the group. Zombies do not count.
func (g *Group) Empty() (bool, error) {
	if len(g.h.trees) == 0 {
		return true, nil // nothing can be in it
	}
	t := g.h.trees[0] // a process is born in all trees at once
	return t.empty(t.path(g))
}

// WaitEmpty returns when no process is left in the group.
func (g *Group) WaitEmpty(ctx context.Context) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		empty, err := g.Empty()
		if empty || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("control group %s is not empty: %w", g.name, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// empty tells whether a directory and those below hold no process.
func (t *tree) empty(path string) (bool, error) {
	var buf [4096]byte
	file := "/cgroup.procs"
	if t.version == 2 {
		file = "/cgroup.events"
	}
	data, err := t.base.read(path+file, buf[:])
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), ignoreGone(err)
	}
	if t.version == 2 {
		populated, ok := keyed(data, "populated")
		return ok && populated == 0, nil
	}
	return len(data) == 0, nil
}
