package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Limits bind all the processes of a group together. Zero is no limit.
type Limits struct {
	// MemoryBytes bounds memory, and swap with it unless [Hierarchy.SwapsBeside].
	// The kernel rounds down to whole pages.
	MemoryBytes int64
	// CPUs is how many cores' worth of time the group gets, at least 0.001.
	CPUs float64
	// Processes bounds processes and threads together.
	Processes int64
}

// What a CPU limit can be. The shortest quota is 1 ms.
const (
	minCPUs = 0.001
	maxCPUs = 1 << 16
)

// Group is one control group, in all the trees of its [Hierarchy]. It is safe
// for concurrent use.
type Group struct {
	h      *Hierarchy
	scope  *Scope // nil for a group of its own
	name   string
	limits Limits
	alive  atomic.Bool // it was made, and is not deleted

	mu    sync.Mutex
	dir   *os.File   // of version 2
	tasks []*os.File // of version 1

	figures sync.Mutex        // held while they are read, or their files opened: none is opened twice
	kept    map[groupFile]int // descriptors of what [Group.Stats] reads
	told    bool              // nothing is kept any more
}

// groupFile is a file of a group, by its path in a tree.
type groupFile struct {
	t    *tree
	path string
}

// Create makes a group and sets its limits. The name is made of a-z, 0-9, dots
// and hyphens and starts with a letter or digit; it must be new. When a limit
// cannot be set, or its controller is absent ([AbsentError]), nothing is left
// and the error says what stopped it.
func (h *Hierarchy) Create(name string, l Limits) (*Group, error) {
	return h.create(&Group{h: h, name: name, limits: l})
}

func (h *Hierarchy) create(g *Group) (*Group, error) {
	if err := checkName(g.name); err != nil {
		return nil, err
	}
	if err := h.checkLimits(g.limits); err != nil {
		return nil, err
	}
	for i, t := range h.trees {
		made, err := t.create(g)
		if err == nil {
			continue
		}
		g.CloseJoinFiles()
		undo := h.trees[:i]
		if made {
			undo = h.trees[:i+1]
		}
		for _, u := range undo {
			err = errors.Join(err, u.base.rmdir(u.path(g)))
		}
		return nil, fmt.Errorf("cannot make control group %s: %w", g.name, err)
	}
	g.alive.Store(true)
	h.dead.alive.Add(1)
	fault.Point("control group made")
	return g, nil
}

// SetProcesses changes the process limit. More that run already stay.
func (g *Group) SetProcesses(n int64) error {
	t := g.h.treeOf(PIDs)
	if t == nil {
		return &AbsentError{PIDs, g.h.Controllers()[PIDs]}
	}
	return t.base.write(t.file(g, "pids.max"), strconv.FormatInt(n, 10))
}

// Name is the name that the group was created with.
func (g *Group) Name() string { return g.name }

func checkName(name string) error {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '-') {
			return fmt.Errorf("control group name %q: only a-z, 0-9, dots and hyphens, the first a letter or digit", name)
		}
	}
	if name == "" || len(name) > unix.NAME_MAX {
		return fmt.Errorf("control group name of %d bytes: at least 1, at most %d", len(name), unix.NAME_MAX)
	}
	return nil
}

// checkLimits refuses limits that make no sense or cannot be set here.
func (h *Hierarchy) checkLimits(l Limits) error {
	if l.MemoryBytes < 0 || l.Processes < 0 {
		return fmt.Errorf("negative control group limit: %d bytes of memory, %d processes", l.MemoryBytes, l.Processes)
	}
	if l.CPUs != 0 && !(l.CPUs >= minCPUs && l.CPUs <= maxCPUs) { // also refuses NaN
		return fmt.Errorf("CPU limit of %v cores: at least %v, at most %v", l.CPUs, minCPUs, maxCPUs)
	}
	for _, c := range []struct {
		asked bool
		Controller
	}{{l.MemoryBytes > 0, Memory}, {l.CPUs > 0, CPU}, {l.Processes > 0, PIDs}} {
		if c.asked && !h.Has(c.Controller) {
			return &AbsentError{c.Controller, h.Controllers()[c.Controller]}
		}
	}
	return nil
}

// create makes the group's directory in one tree, writes its limits and opens
// what joining needs. It tells whether the directory was made.
func (t *tree) create(g *Group) (made bool, err error) {
	path := t.path(g)
	if err := t.mkdir(path); err != nil {
		return false, err
	}
	fault.Point("control group directory made")
	for _, s := range t.settings(g.limits) {
		err := t.write(path+"/"+s.file, s.value)
		if s.file == quotaFile && TighterAbove(err, func(quota string) error { return t.base.write(path+"/"+quotaFile, quota) }) {
			continue
		}
		if err != nil {
			return true, err
		}
	}
	if t.version == 2 {
		g.dir, err = t.base.open(path, unix.O_PATH|unix.O_DIRECTORY)
		return true, err
	}
	tasks, err := t.base.open(path+"/tasks", unix.O_WRONLY)
	if err == nil {
		g.tasks = append(g.tasks, tasks)
	}
	return true, err
}

// mkdir makes a group, and the parent of all groups when somebody has removed it.
func (t *tree) mkdir(path string) (err error) {
	for range tries {
		if err = t.base.mkdir(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := t.prepareAgain(); err != nil {
			return err
		}
	}
	return err
}

// write sets a value of a new group. A file that is not there may be one of a
// controller that whoever made the parent anew is about to hand down.
func (t *tree) write(path, value string) error {
	err := t.base.write(path, value)
	if errors.Is(err, fs.ErrNotExist) && t.prepareAgain() == nil {
		return t.base.write(path, value)
	}
	return err
}

// quotaFile has the CPU limit of version 1, in microseconds of a period. leastQuota is the
// smallest that the kernel takes (min_cfs_quota_period in kernel/sched/core.c).
const quotaFile, leastQuota = "cpu.cfs_quota_us", "1000"

// NoQuota is no CPU limit, in the file of version 1.
const NoQuota = "-1"

// TighterAbove tells whether version 1 refused the CPU limit of a group for being above that
// of a group over it, as in a container with less than a core, and leaves the group without one
// of its own: the other holds for it too. Version 2 takes such a limit, and version 1 refuses
// it even where the other is not to be seen; the smallest that there can be tells. refused is
// what the kernel answered, and write writes another quota, as text.
func TighterAbove(refused error, write func(quota string) error) bool {
	return errors.Is(refused, unix.EINVAL) && write(leastQuota) == nil && write(NoQuota) == nil
}

// prepareAgain restores the parent of all groups, with everything it had.
func (t *tree) prepareAgain() error {
	again := *t // swap was settled by Detect, and others may be reading it
	failed, err := again.prepare(t.uses)
	for _, e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// setting is a value for one file of a group.
type setting struct{ file, value string }

// settings lists what must be written to a new group of this tree, in order.
func (t *tree) settings(l Limits) []setting {
	var list []setting
	if l.MemoryBytes > 0 && t.has(Memory) {
		list = append(list, t.memorySettings(strconv.FormatInt(l.MemoryBytes, 10))...)
	}
	if l.CPUs > 0 && t.has(CPU) {
		period := strconv.Itoa(CPUPeriodUS)
		quota := strconv.FormatInt(int64(math.Round(l.CPUs*CPUPeriodUS)), 10)
		if t.version == 2 {
			list = append(list, setting{"cpu.max", quota + " " + period})
		} else {
			list = append(list, setting{"cpu.cfs_period_us", period}, setting{quotaFile, quota})
		}
	}
	if l.Processes > 0 && t.has(PIDs) {
		list = append(list, setting{"pids.max", strconv.FormatInt(l.Processes, 10)})
	}
	return list
}

// memorySettings are the hard limit and what makes it whole: no swap beside it,
// and on version 2 an OOM kill takes the whole group (for version 1 see
// [Group.NotifyOOM]). memory.high stays unset: it slows a program down instead
// of ending it. memsw, memory and swap together, may never be below memory, so
// it comes second.
func (t *tree) memorySettings(bytes string) []setting {
	if t.version == 2 {
		list := []setting{{"memory.max", bytes}, {"memory.oom.group", "1"}}
		if t.swap {
			list = append(list, setting{"memory.swap.max", "0"})
		}
		return list
	}
	list := []setting{{"memory.limit_in_bytes", bytes}}
	if t.swap {
		list = append(list, setting{"memory.memsw.limit_in_bytes", bytes})
	}
	return list
}
