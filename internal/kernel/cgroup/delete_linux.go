package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Delete removes the group from every tree. Its processes must have been
// killed; for those that are still about to die it waits, up to two seconds,
// after which it is an error that names them. A group that is already gone is
// no error. Descriptors from V2Dir and TasksFiles are closed, and those of [Group.PrepareStats].
func (g *Group) Delete() error {
	g.CloseJoinFiles()
	g.CloseStats()
	deadline := deleteDeadline()
	var errs []error
	for _, t := range g.h.trees {
		errs = append(errs, t.remove(t.path(g), deadline))
		fault.Point("control group removed")
	}
	err := errors.Join(errs...)
	if err == nil && g.alive.CompareAndSwap(true, false) {
		g.h.dead.alive.Add(-1)
	}
	return err
}

func deleteDeadline() time.Time { return time.Now().Add(deleteTimeout) }

// remove removes one directory, waiting while it is busy.
func (t *tree) remove(path string, deadline time.Time) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		t.dropCache(path)
		err := t.base.rmdir(path)
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		if time.Now().After(deadline) {
			pids, _ := t.pids(path)
			return fmt.Errorf("control group is still in use, by processes %v: %w", pids, err)
		}
		time.Sleep(pause)
	}
}

// maxDead is how many removed memory groups the kernel may hold more than we found there before the
// page cache of the next one is dropped, maxFound how many that may be, which nobody wants in the
// tens of thousands, and lookAtDead after how many removals it is asked again. More than maxDrop
// bytes are a toolchain's, of which there are few.
const maxDead, maxFound, lookAtDead, maxDrop = 128, 2048, 16, 8 << 20

// dropCache frees the page cache that is charged to a memory group. A removed
// group stays in the kernel for as long as one page is charged to it, and
// programs that read ever new files would pile such groups up. But the pages
// are mostly those of a toolchain, which the next run needs again: dropping them
// costs it the reading, and us 0.3 to 0.7 ms of waiting for all processors. They
// stay charged to the first group that read them, so the dead are few; only
// when they have become many is the cache dropped, and never much of it: else each
// run of a large toolchain would read it from the disk. Files on tmpfs are not page
// cache. It is an economy, not a duty: errors are of no interest.
func (t *tree) dropCache(path string) {
	if !t.has(Memory) || !t.dead.areMany(t) {
		return
	}
	var buf [statBuffer]byte
	data, err := t.base.read(path+"/memory.stat", buf[:])
	name := "cache"
	if t.version == 2 {
		name = "file"
	}
	cache, _ := keyed(data, name)
	shmem, _ := keyed(data, "shmem")
	switch {
	case err != nil || cache <= shmem || cache-shmem > maxDrop:
	case t.version == 1:
		_ = t.base.write(path+"/memory.force_empty", "0")
	default: // since Linux 5.19
		_ = t.base.write(path+"/memory.reclaim", strconv.FormatInt(cache-shmem, 10))
	}
}

// dead tells whether the kernel holds many memory groups that were removed. Those that others have
// left, or we in an earlier life, are not counted: what is dropped of ours makes them no fewer, and
// the next run would read it again, to have it dropped again.
type dead struct {
	alive, removed atomic.Int64 // groups of ours
	found          atomic.Int64 // the fewest that there were at any look
	many           atomic.Bool  // at the last look
}

// areMany asks the kernel at every so many removals, the first among them.
func (d *dead) areMany(t *tree) bool {
	if n := d.removed.Add(1); n%lookAtDead == 1 {
		now := t.deadInKernel()
		if n == 1 || now < d.found.Load() {
			d.found.Store(min(now, maxFound))
		}
		d.many.Store(now-d.found.Load() >= maxDead)
	}
	return d.many.Load()
}

// deadInKernel is how many memory groups the kernel holds that were removed: on version 2 below
// our base, on version 1 all of the machine but ours that live, since it does not tell them apart.
func (t *tree) deadInKernel() int64 {
	var buf [4096]byte
	if t.version == 2 {
		data, _ := t.base.read("cgroup.stat", buf[:])
		dead, _ := keyed(data, "nr_dying_descendants")
		return dead
	}
	data, _ := os.ReadFile("/proc/cgroups")
	for line := range strings.Lines(string(data)) {
		// subsys_name, hierarchy, num_cgroups, enabled
		if f := strings.Fields(line); len(f) == 4 && f[0] == string(Memory) {
			n, _ := strconv.ParseInt(f[2], 10, 64)
			return n - t.dead.alive.Load()
		}
	}
	return 0
}

// Places are the directories that hold the groups, one in each tree. They are
// below our own group where that is ours to divide, so that a process that is
// started elsewhere has others.
func (h *Hierarchy) Places() []string {
	var places []string
	for _, t := range h.trees {
		places = append(places, t.base.path(t.parent))
	}
	return places
}

// Reclaim kills and removes every group whose name starts with prefix, with all
// that is inside, and returns the names of those that it removed. It is for what
// a dead instance left behind: the caller knows that nobody else uses such
// names. It looks where this process makes groups, and in further places, those
// of the dead. Groups that could not be removed are in the error.
func (h *Hierarchy) Reclaim(prefix string, places ...string) ([]string, error) {
	if err := checkName(prefix); err != nil {
		return nil, err
	}
	var removed []string
	var errs []error
	reclaim := func(t *tree) {
		names, err := t.reclaim(prefix)
		removed = append(removed, names...)
		errs = append(errs, err)
	}
	for _, t := range h.trees {
		reclaim(t)
	}
	for _, place := range places {
		if slices.Contains(h.Places(), place) {
			continue
		}
		t, err := openPlace(place)
		if err != nil {
			errs = append(errs, ignoreGone(err))
			continue
		}
		reclaim(t)
		for _, own := range []string{t.parent, t.parent + selfSuffix} {
			_ = t.base.rmdir(own) // EBUSY: somebody else's
		}
		t.close()
	}
	slices.Sort(removed)
	return slices.Compact(removed), errors.Join(errs...)
}

// openPlace opens a directory that held groups of another process, to remove them.
func openPlace(place string) (*tree, error) {
	base, err := openDir(filepath.Dir(place))
	if err != nil {
		return nil, err
	}
	t := &tree{version: 1, base: base, parent: filepath.Base(place)}
	if base.exists("cgroup.controllers") {
		t.version = 2
	}
	if base.exists(t.parent + "/cgroup.kill") {
		t.uses = []Controller{Kill}
	}
	return t, nil
}

func (t *tree) reclaim(prefix string) (removed []string, err error) {
	names, err := t.base.subdirs(t.parent)
	errs := []error{ignoreGone(err)}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if err := t.removeAll(t.parent + "/" + name); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, name)
	}
	return removed, errors.Join(errs...)
}

// removeAll kills what is in a group and in those below it, and removes them.
func (t *tree) removeAll(path string) error {
	if t.has(Kill) { // takes the groups below with it
		if err := ignoreGone(t.base.write(path+"/cgroup.kill", "1")); err != nil {
			return err
		}
	} else if err := t.killListed(path); err != nil {
		return err
	}
	names, err := t.base.subdirs(path)
	if ignoreGone(err) != nil {
		return err
	}
	for _, name := range names {
		if err := t.removeAll(path + "/" + name); err != nil {
			return err
		}
	}
	return t.remove(path, deleteDeadline())
}
