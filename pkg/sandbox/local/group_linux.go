package local

import (
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// group is the control group of one process, or the lack of one. Each process
// has a group of its own: fresh counters, and nothing of a compiler's memory is
// charged to the program that it made.
type group struct {
	hierarchy *cgroup.Hierarchy
	cg        *cgroup.Group // nil when this host grants none
	limits    sandbox.Limits
	held      heldLimits
	crowded   bool  // one more than the limit may be in it, until settle
	carried   int64 // bytes of memory that the process has and another group is charged for
	stopOOM   func()
}

// heldLimits tells which limits a control group holds.
type heldLimits struct{ memory, processes, cpu bool }

// removeGroup removes a group, or notes why not.
func (c *container) removeGroup(g *group) {
	if err := c.remove(g.delete); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leftover = append(c.leftover, err)
	}
}

// newGroup makes a group for a process of the container.
func (c *container) newGroup(l sandbox.Limits) (*group, error) {
	g := &group{hierarchy: c.rt.host.cgroups, limits: l}
	if g.hierarchy == nil {
		return g, nil
	}
	g.held = heldLimits{
		memory:    g.hierarchy.Has(cgroup.Memory),
		processes: g.hierarchy.Has(cgroup.PIDs),
		cpu:       g.hierarchy.Has(cgroup.CPU),
	}
	limits := cgroup.Limits{}
	if g.held.memory {
		limits.MemoryBytes = l.MemoryBytes
	}
	if g.held.processes {
		limits.Processes = l.Processes
		if l.Processes > 0 && len(g.hierarchy.HomeTasksFiles()) > 0 {
			limits.Processes++ // init, while it forks
			g.crowded = true
		}
	}
	if g.held.cpu {
		limits.CPUs = l.CPUs
	}
	c.mu.Lock()
	c.groups++
	name := fmt.Sprintf("%s-%d", c.id, c.groups)
	c.mu.Unlock()
	var err error
	if g.cg, err = c.scope.Create(name, limits); err != nil {
		return nil, err
	}
	return g, nil
}

// enter appends what init does so that its next child is born in the group.
func (g *group) enter(p *spawn.Program) {
	if g.cg == nil {
		return
	}
	for _, f := range g.cg.TasksFiles() {
		p.Call("enter the control group", unix.SYS_WRITE, p.File(int(f.Fd())), p.String("0"), spawn.Value(1))
	}
}

// leave appends init's way back.
func (g *group) leave(p *spawn.Program) {
	if g.cg == nil {
		return
	}
	for _, f := range g.hierarchy.HomeTasksFiles() {
		p.Call("leave the control group", unix.SYS_WRITE, p.File(int(f.Fd())), p.String("0"), spawn.Value(1))
	}
}

// fork appends the fork of the program. With CLONE_VFORK init waits until the child
// has called execve.
func (g *group) fork(p *spawn.Program, flags uintptr, child func()) {
	var dir *os.File
	if g.cg != nil {
		dir, _ = g.cg.V2Dir()
	}
	p.ForkInto(dir, "fork", flags, spawn.Arg{}, child)
}

// settle takes back what was allowed while somebody was in the group to fork.
func (g *group) settle() error {
	if !g.crowded {
		return nil
	}
	return g.cg.SetProcesses(g.limits.Processes)
}

// letRootIn has root start the process in place of init: one who has no right over files of init's,
// and who is in the group itself until it has forked.
func (g *group) letRootIn() error {
	if err := g.cg.Withdraw(); err != nil {
		return err
	}
	if !g.held.processes || g.limits.Processes == 0 || g.crowded {
		return nil
	}
	g.crowded = true
	return g.cg.SetProcesses(g.limits.Processes + 1)
}

// onOOM calls kill when the kernel has killed for memory on version 1, where it
// kills one process; on version 2 it kills the group itself. It must be called
// before the process is started.
func (g *group) onOOM(kill func()) (err error) {
	if g.cg != nil && g.limits.MemoryBytes > 0 {
		g.stopOOM, err = g.cg.NotifyOOM(kill)
	}
	return err
}

// read reads what the kernel has counted, if it counts here.
func (g *group) read(what func(*cgroup.Group) (cgroup.Stats, error)) (s cgroup.Stats, known bool, err error) {
	if g.cg == nil {
		return s, false, nil
	}
	s, err = what(g.cg)
	return s, err == nil, err
}

// final fills in the end of a process: its figures, and what the kernel counted
// at the limits. The dead must have been reaped: only then is the count of OOM
// kills final.
//
// Without them nobody knows whether it reached a limit, and its end is none of its own
// then.
func (g *group) final(usage *spawn.Usage, exit *sandbox.Exit) error {
	s, known, err := g.read((*cgroup.Group).Stats)
	exit.Metrics = g.metrics(usage, s, known)
	if !known {
		return err
	}
	exit.ProcessDenials = s.ProcessesDenied.Value
	if p := s.ProcessesPeak; p.Known() && p.Value < g.limits.Processes {
		exit.ProcessDenials = 0 // a limit above: it is counted where the fork was tried
	}
	if s.OOMKills.Value > 0 {
		exit.OOMKills = s.OOMKills.Value
		exit.HostOOM = !s.MemoryAtLimit
	}
	return nil
}

// metrics are the figures of a process. usage is that of the main process once
// it has ended, and fills in what the group does not count.
func (g *group) metrics(usage *spawn.Usage, s cgroup.Stats, known bool) sandbox.Metrics {
	m := sandbox.Metrics{Sources: map[string]string{}}
	if usage != nil {
		guest.FromUsage(&m, *usage)
	}
	if !known {
		return m
	}
	if s.CPUUser.Known() && s.CPUSystem.Known() {
		user, system := time.Duration(s.CPUUser.Value), time.Duration(s.CPUSystem.Value)
		m.CPUUser, m.CPUSystem = &user, &system
		for _, name := range []string{"cpu_time_s", "cpu_user_s", "cpu_system_s"} {
			m.Sources[name] = string(s.CPUUser.Source)
		}
	}
	s.MemoryBytes.Value += g.carried
	s.MemoryPeakBytes.Value += g.carried
	take := func(name string, to **int64, f cgroup.Figure) {
		if f.Known() {
			*to = f.Pointer()
			m.Sources[name] = string(f.Source)
		}
	}
	take("memory_peak_bytes", &m.MemoryPeakBytes, s.MemoryPeakBytes)
	take("processes_peak", &m.ProcessesPeak, s.ProcessesPeak)
	take("io_read_bytes", &m.IOReadBytes, s.IOReadBytes)
	take("io_write_bytes", &m.IOWriteBytes, s.IOWriteBytes)
	take("page_faults", &m.PageFaults, s.PageFaults)
	m.MemoryBytes, m.Processes = s.MemoryBytes.Pointer(), s.Processes.Pointer()
	return m
}

// hurry lets who is killed die faster than its CPU limit would.
func (g *group) hurry() {
	if g.cg != nil {
		_ = g.cg.LiftCPU() // they die all the same
	}
}

// delete removes the group. Every process of it must be dead.
func (g *group) delete() error {
	if g.stopOOM != nil {
		g.stopOOM()
	}
	if g.cg == nil {
		return nil
	}
	return g.cg.Delete()
}

// affinity is how many cores a CPU limit is rounded to where no control group
// holds it, or 0.
func (g *group) affinity() int {
	if g.held.cpu || g.limits.CPUs <= 0 {
		return 0
	}
	return int(math.Ceil(g.limits.CPUs))
}

// Metrics implements [sandbox.Running].
func (pr *process) Metrics() (sandbox.Metrics, error) {
	return pr.figures((*cgroup.Group).Stats), nil
}

// Used implements [sandbox.Sparing].
func (pr *process) Used() (sandbox.Metrics, error) { return pr.figures((*cgroup.Group).Used), nil }

func (pr *process) figures(read func(*cgroup.Group) (cgroup.Stats, error)) sandbox.Metrics {
	stats, known, _ := pr.group.read(read)
	m := pr.group.metrics(nil, stats, known)
	if m.CPUUser == nil {
		pr.sampler.cpu(&m)
	}
	return m
}

// PrepareFigures implements [sandbox.Figuring].
func (pr *process) PrepareFigures() {
	if pr.group.cg != nil {
		pr.group.cg.PrepareStats()
	}
}
