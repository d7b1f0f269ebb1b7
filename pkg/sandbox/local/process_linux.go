package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/notify"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// process is one program of a container and all that it starts.
type process struct {
	alive.Ending

	c        *container
	pid      int          // in the init's namespace
	end      *spawn.Child // its end, once it was begun
	attended attended
	group    *group
	streams  *streams
	policy   sandbox.NetworkPolicy
	out      *outlet.Connection // nil where nothing leads out
	// supervisor decides about system calls; nil where the filter asks nobody.
	supervisor *supervisor
	trace      *trace // of a process whose denied calls are named
	started    time.Time
	sampler    *sampler     // nil where a control group counts everything
	disk       *diskSampler // nil where the file system holds its limit
	kill       sync.Once
	unwatched  error // why its memory is not watched, where it must be

	expected sandbox.Process // of one that was forked ahead, what is known of it
	waiter   *spawn.Server   // tells it the rest
}

// Start implements [sandbox.Container].
func (c *container) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	return c.start(p, func(p sandbox.Process) (*process, error) { return c.begin(ctx, p) })
}

func (c *container) start(p sandbox.Process, begin func(sandbox.Process) (*process, error)) (sandbox.Running, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := c.mayStart(p); err != nil {
		return nil, err
	}
	if len(p.Args) == 0 {
		return nil, errors.New("no program to start")
	}
	p = c.resolving(c.translate(p))
	pr, err := begin(p)
	if err != nil {
		return nil, err
	}
	pr.streams.start(p, pr.killOnce)
	pr.watch(p)
	c.mu.Lock()
	c.running = pr
	c.mu.Unlock()
	fault.Point("process runs")
	go pr.finish()
	return pr, nil
}

// begin starts the process that was expected, if p is it, and a new one otherwise.
func (c *container) begin(ctx context.Context, p sandbox.Process) (pr *process, err error) {
	pr, c.expected = c.expected, nil
	switch {
	case pr != nil && pr.fits(p):
		err = pr.become(p)
	default:
		if pr != nil {
			pr.abandon()
		}
		return c.newProcess(ctx, p, func(pr *process) error {
			fault.Point("process prepared")
			return pr.launch(p)
		})
	}
	if err != nil {
		pr.abandon()
		return nil, err
	}
	return pr, nil
}

// newProcess prepares a process and has start start it, or make it wait.
func (c *container) newProcess(ctx context.Context, p sandbox.Process, start func(*process) error) (*process, error) {
	pr := &process{Ending: alive.NewEnding(), c: c, attended: attended{begun: make(chan struct{})}}
	err := pr.prepare(ctx, p)
	if err == nil {
		err = start(pr)
	}
	if err != nil {
		pr.abandon()
		return nil, err
	}
	return pr, nil
}

// mayStart returns when the last process is gone, which may have files open as long as it is held.
func (c *container) mayStart(p sandbox.Process) error {
	c.mu.Lock()
	last, deleted := c.running, c.deleted
	c.mu.Unlock()
	switch {
	case deleted:
		return fmt.Errorf("container %s is deleted", c.id)
	case last != nil && !last.Ended():
		return errRunning
	case last != nil:
		last.bury()
	}
	return p.Limits.Validate()
}

// prepare makes what the process needs on our side: its way out, its control
// group, what ends it when the kernel has killed for its memory, and its pipes.
func (pr *process) prepare(ctx context.Context, p sandbox.Process) (err error) {
	if pr.policy, err = pr.c.processPolicy(p); err != nil {
		return err
	}
	if pr.c.network != nil {
		own := &pr.policy
		if p.Network == nil {
			own = nil
		}
		if pr.out, err = pr.c.network.Connect(ctx, own); err != nil {
			return err
		}
	}
	if pr.group, err = pr.c.newGroup(p.Limits); err != nil {
		return err
	}
	if err := pr.group.onOOM(pr.killOnce); err != nil {
		return err
	}
	if err := pr.c.isolation.CheckStrict(p.Limits); err != nil {
		return err
	}
	owner := 0
	if pr.c.identity.root && pr.c.walls.ids {
		owner = pr.c.identity.id + 1
	}
	pr.streams, err = openStreams(p, owner)
	return err
}

// launch has init fork the program and returns when it was executed.
func (pr *process) launch(p sandbox.Process) error {
	pr.started = time.Now()
	files, err := pr.fork(p, unix.CLONE_VFORK, -1, (*child).become)
	if err != nil {
		return pr.c.startError(p, err)
	}
	fault.Point("process started")
	return pr.take(p, files)
}

// fork has init fork a child that has everything but what end gives it, with a socket if that
// is not -1, and returns the descriptors that it has sent.
func (pr *process) fork(p sandbox.Process, flags uintptr, socket int, end func(*child)) ([]*os.File, error) {
	var program spawn.Program
	ch, err := pr.child(&program, p)
	if err != nil {
		return nil, err
	}
	if socket >= 0 {
		ch.socket = program.File(socket)
	}
	pr.openStreamsInside(&ch, p)
	pr.group.enter(&program)
	pr.group.fork(&program, flags, func() {
		err = ch.enclose()
		end(&ch)
	})
	if err != nil {
		return nil, err
	}
	pr.group.leave(&program)
	for _, fd := range ch.opened {
		program.Call("close", unix.SYS_CLOSE, fd)
	}
	reply, err := pr.c.init.Do(&program)
	pr.streams.closeTheirs()
	if err != nil {
		return nil, err
	}
	pr.pid = reply.PID
	pr.end = pr.c.init.Child(pr.pid)
	if err := pr.group.settle(); err != nil {
		closeFiles(reply.Files)
		return nil, err
	}
	return reply.Files, nil
}

// child is what will be the process, whose steps program is to have.
func (pr *process) child(program *spawn.Program, p sandbox.Process) (child, error) {
	filter, err := pr.filter(p)
	ch := child{
		p: program, c: pr.c, process: p, network: pr.policy.Mode,
		limits: pr.c.rlimits(p.Limits, pr.group.held),
		cores:  someCores(pr.group.affinity()),
		filter: filter,
	}
	if pr.supervised() {
		ch.notify, _ = notify.FilterFlags() // it has worked before
	}
	return ch, err
}

// filter is the process's seccomp program.
func (pr *process) filter(p sandbox.Process) (filter []byte, err error) {
	if !p.TraceDenied {
		return pr.c.filter(pr.policy)
	}
	filter, pr.trace, err = pr.c.traced(pr.policy)
	return filter, err
}

// supervised tells whether the process's filter asks us.
func (pr *process) supervised() bool {
	return pr.trace != nil || pr.c.supervises(pr.policy) || pr.c.supervisesFiles()
}

// take takes the descriptors that init has sent: the terminal, then the listener
// of the filter.
func (pr *process) take(p sandbox.Process, files []*os.File) error {
	want := 0
	if p.TTY != nil {
		want++
	}
	if pr.supervised() {
		want++
	}
	if len(files) != want {
		closeFiles(files)
		return fmt.Errorf("init sent %d descriptors of %d", len(files), want)
	}
	if pr.supervised() {
		if err := pr.supervise(files[want-1]); err != nil {
			closeFiles(files[:want-1])
			return err
		}
	}
	if p.TTY != nil {
		return pr.streams.attachTerminal(files[0])
	}
	return nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// openStreamsInside decides what the child's descriptors 0, 1 and 2 are.
func (pr *process) openStreamsInside(ch *child, p sandbox.Process) {
	if p.TTY != nil {
		slave := pr.c.openTerminal(ch.p, *p.TTY)
		ch.terminal = true
		ch.streams = [3]spawn.Arg{slave, slave, slave}
		ch.opened = []spawn.Arg{slave}
		return
	}
	var null spawn.Arg
	for i, fd := range pr.streams.theirs {
		if fd >= 0 {
			ch.streams[i] = ch.p.File(fd)
			continue
		}
		if ch.opened == nil {
			null = ch.p.Call("open /dev/null", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), ch.p.String(os.DevNull), spawn.Value(unix.O_RDWR|unix.O_CLOEXEC)).Save()
			ch.opened = []spawn.Arg{null}
		}
		ch.streams[i] = null
	}
}

// startError tells a program that cannot be executed from a failure of ours.
func (c *container) startError(p sandbox.Process, err error) error {
	var step *spawn.StepError
	switch {
	case errors.As(err, &step):
	case errors.Is(err, unix.E2BIG):
		return &sandbox.StartError{Program: p.Args[0], Err: err}
	default:
		return fmt.Errorf("start %s: %w", p.Args[0], err)
	}
	switch step.Step {
	case spawn.ExecStep:
		if step.Scarce() {
			break
		}
		return &sandbox.StartError{Program: p.Args[0], Err: c.execError(p.Args[0], step.Errno)}
	case spawn.ChdirStep:
		return &sandbox.StartError{Program: p.Args[0], Err: fmt.Errorf("the working directory %s: %w", p.Dir, step.Errno)}
	}
	return fmt.Errorf("start %s: %w", p.Args[0], err)
}

// execError adds to EACCES what stands behind it in a container without a root of
// its own.
func (c *container) execError(program string, errno unix.Errno) error {
	if c.walls.namespaces || errno != unix.EACCES {
		return errno
	}
	var st unix.Statfs_t
	switch {
	case unix.Statfs(program, &st) == nil && st.Flags&unix.ST_NOEXEC != 0:
		return fmt.Errorf("%w: its file system is mounted noexec; mount it with exec (docker run --tmpfs /tmp:exec), or name another place by TMPDIR", errno)
	case c.identity.root:
		return fmt.Errorf("%w: at this isolation the sandbox's user must be able to reach it, and it may lie in a private home", errno)
	}
	return errno
}

// abandon frees what a process that did not start has taken.
func (pr *process) abandon() {
	if pr.group != nil {
		// Init may be stuck half-way into the group.
		var p spawn.Program
		pr.group.leave(&p)
		_ = pr.c.tell(&p)
		pr.c.killRest()
	}
	if pr.waiter != nil {
		_ = pr.waiter.Close()
	}
	if pr.streams != nil {
		pr.streams.close()
	}
	pr.supervisor.stop()
	pr.out.Abandon()
	if pr.group != nil {
		pr.c.cleanups.Go(func() { pr.c.removeGroup(pr.group) })
	}
}

// watch starts what ends the process for its memory where the kernel does not.
func (pr *process) watch(p sandbox.Process) {
	pr.sampler = pr.newSampler(p.Limits.MemoryBytes, p.Awake)
	if c := pr.c; !c.walls.namespaces {
		closed := p.ReadOnly
		if !c.walls.landlock {
			closed = nil
		}
		pr.disk = startDiskSampler(&c.meter, closed, pr.killOnce)
	}
}

func (pr *process) killOnce() { pr.kill.Do(func() { _ = pr.Kill() }) }

// finish waits for the end and gathers what is known about it.
func (pr *process) finish() {
	defer pr.End()
	exit, usage, held, err := pr.reap()
	fault.Point("process ended")
	pr.Exit.Ended = time.Now()
	pr.Exit.Duration = pr.Exit.Ended.Sub(pr.started)
	if !held && (!pr.c.walls.namespaces || !pr.c.init.Idle()) {
		pr.group.hurry()
		pr.c.killRest()
	}
	fault.Point("rest killed")
	pr.sampler.stop()
	pr.Exit.DiskKill = pr.disk.stop()
	pr.out.Settle()
	pr.Exit.Violations = pr.supervisor.stop()
	pr.out.End(&pr.Exit)
	if held {
		late := time.AfterFunc(drainedWithin, pr.bury) // who reads what it has written may take long
		defer late.Stop()
	}
	failed, lost := pr.streams.finish(held)
	pr.Exit.WriteError = failed
	pr.Exit.Code = exit.ExitStatus()
	if exit.Signaled() {
		pr.Exit.Signal = int(exit.Signal())
		pr.Exit.Code = 128 + pr.Exit.Signal
		pr.Exit.Violations = append(pr.Exit.Violations, pr.trace.killed(pr.Exit.Signal)...)
	}
	err = errors.Join(err, lost, pr.unwatched, pr.gather(usage, held))
	// A millisecond that nobody needs to wait for but Delete.
	pr.c.cleanups.Go(func() {
		pr.bury()
		pr.streams.close()
		if pr.waiter != nil {
			_ = pr.waiter.Close() // nobody has the other end
		}
		pr.c.removeGroup(pr.group)
	})
	if err != nil {
		pr.Err = fmt.Errorf("container %s: %w", pr.c.id, err)
	}
}

// reap waits for the end of the main process. What it has used is known of one that we have
// not killed with its init.
func (pr *process) reap() (status spawn.WaitStatus, usage *spawn.Usage, held bool, err error) {
	exit, held := pr.lastBreath()
	if !held {
		exit, err = pr.end.Exit()
	}
	if errors.Is(err, spawn.ErrGone) && pr.c.killed.Load() {
		return spawn.WaitStatus(unix.SIGKILL), nil, false, nil
	}
	return exit.Status, &exit.Usage, held, err
}

// gather reads the figures; the process is dead, its groups still exist.
func (pr *process) gather(usage *spawn.Usage, held bool) error {
	err := pr.group.final(usage, &pr.Exit)
	if pr.sampler != nil {
		pr.sampler.fill(&pr.Exit)
		err = errors.Join(err, pr.sampler.err)
	}
	unknown := pr.measure()
	if held && (halfFull(pr.Exit.Disk) || halfFull(pr.Exit.BuildDisk)) {
		pr.bury() // which may have files that have no name any more
		unknown = pr.measure()
	}
	return errors.Join(err, unknown)
}

// measure notes how full the disks are.
func (pr *process) measure() (err error) {
	var build error
	pr.Exit.Disk, err = pr.c.measure(sandbox.WorkspaceDir)
	pr.Exit.BuildDisk, build = pr.c.measure(sandbox.BuildDir)
	return errors.Join(err, build)
}

func halfFull(d sandbox.DiskUsage) bool {
	return d.BytesUsed > d.BytesTotal/2 || d.InodesUsed > d.InodesTotal/2
}

// Signal implements [sandbox.Running]. Init sends it, so that the number means
// the process that init has not reaped yet; of one that it has, the number may be another's.
func (pr *process) Signal(sig syscall.Signal) error {
	if pr.Ended() || !pr.c.init.Lives(pr.pid) {
		return nil
	}
	var p spawn.Program
	for _, target := range []int{-pr.pid, pr.pid} {
		p.Call("kill", unix.SYS_KILL, spawn.Value(target), spawn.Value(int(sig))).Allow(unix.ESRCH)
	}
	return pr.c.tell(&p)
}

// Kill implements [sandbox.Running].
func (pr *process) Kill() error {
	if pr.Ended() {
		return nil
	}
	pr.group.hurry()
	return pr.c.killPrograms()
}

// Resize implements [sandbox.Running].
func (pr *process) Resize(rows, cols uint16) error {
	if pr.streams.stdout == nil {
		return errors.New("the process has no terminal")
	}
	return pr.streams.resize(rows, cols)
}
