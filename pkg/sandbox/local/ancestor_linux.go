package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ancestor is an interpreter in the root of a container whose programs it is none of: it is
// in no pid namespace but ours, so that children of it can be in anybody's, and it is root, with
// just the capabilities that it takes to enter namespaces. It never sees anything of a run. Its
// children have nothing of that left before they go on as interpreters.
type ancestor struct {
	c       *container // whose root it has
	group   *group
	server  *spawn.Server
	pid     int           // the spawner's child
	onWay   chan struct{} // holds one for each child that has not come back
	files   openFiles
	threads int // beside the one that forks
	// foreseen is what each child will write to and copies itself, and what it will read of files; nil while
	// nobody knows. What is pinned is copied for it as it is forked.
	foreseen atomic.Pointer[[]span]
	// carried is the memory in bytes that is copied for each child and charged to the ancestor.
	carried atomic.Int64
	ending  sync.Once
	ended   error
	unable  bool // to be one, as it has said at its end
}

// ancestral are the capabilities of an ancestor: what setns takes, of another's by its pidfd.
const ancestral = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_SYS_PTRACE

// How long an ancestor may take to come up, how long a child's making may wait for those
// before it, how long an ancestor may take to fork, and its child to come back: a few system calls,
// one of which waits for other CPUs. How long a child that has ended may take to have said why.
const (
	ancestorStarts   = 30 * time.Second
	ancestorWaits    = 500 * time.Millisecond
	ancestorForks    = 2 * time.Second
	descendantTakes  = 2 * time.Second
	descendantTells  = 100 * time.Millisecond
	descendantsOnWay = 16
	ancestorThreads  = 64
)

// ancestorLimits are an ancestor's own: it is none of the runs, and its children are in its group
// until they have entered theirs, on version 1. Of its memory a quarter is for itself, and the rest for
// what some 250 children carry; an ancestor that has more of them is killed, and another follows it.
var ancestorLimits = sandbox.Limits{MemoryBytes: 1 << 30, Processes: 2*(descendantsOnWay+2) + ancestorThreads}

// Ancestor implements [sandbox.Ancestral]. The interpreter must be the host's, and root's.
func (c *container) Ancestor(_ context.Context, p sandbox.Process, from sandbox.Ancestry) (_ sandbox.Ancestor, err error) {
	code := spawn.AncestorLibrary()
	const takes = ancestral | 1<<unix.CAP_SETPCAP
	switch {
	case len(code) == 0:
		return nil, fmt.Errorf("%w on this architecture", sandbox.ErrNoAncestor)
	case !c.walls.namespaces || !c.identity.root || c.image != nil || c.network != nil || !c.rt.host.grantsGroups() || len(p.Args) == 0 || capabilities()&takes != takes:
		return nil, fmt.Errorf("%w but where root isolates fully, with the host's programs, without a network and with control groups", sandbox.ErrNoAncestor)
	}
	if err := c.rootsAlone(p.Args[0], from.Code); err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(p.Args[0]); from.ByName && (err != nil || resolved != p.Args[0]) { //nolint:forbidigo // what it is called is asked
		return nil, fmt.Errorf("%w of an interpreter by a link, %s", sandbox.ErrNoAncestor, p.Args[0])
	}
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err == nil {
		err = tree.WriteFile(from.Library, bytes.NewReader(code), 0o755)
	}
	if err != nil {
		return nil, err
	}
	a := &ancestor{c: c, onWay: make(chan struct{}, descendantsOnWay)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
		if a.unable {
			err = fmt.Errorf("%w of an interpreter of this kind", sandbox.ErrNoAncestor)
		}
	}()
	if a.group, err = c.newGroup(ancestorLimits); err != nil {
		return nil, err
	}
	if err := a.launch(c.translate(p), from.HasRings); err != nil {
		return nil, fmt.Errorf("start an ancestor: %w", err)
	}
	fault.Point("ancestor started")
	timer := time.AfterFunc(ancestorStarts, a.giveUp)
	defer timer.Stop()
	if _, err := a.server.Do(new(spawn.Program)); err != nil { // it answers once it waits
		return nil, fmt.Errorf("start an ancestor: %w", ofAncestor(err))
	}
	if err := a.settle(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted {
		return nil, fmt.Errorf("container %s is deleted", c.id)
	}
	c.ancestor = a
	return a, nil
}

// rootsAlone tells whether nobody but root can change a program of the host's and the code that
// it runs when it starts, as the container has it.
func (c *container) rootsAlone(program string, code []string) error {
	if err := roots(program); err != nil {
		return err
	}
	for _, dir := range code {
		hidden := slices.ContainsFunc(c.spec.Mounts, func(m sandbox.Mount) bool { return m.Target == dir && m.Source == "" })
		if hidden {
			continue
		}
		resolved, err := filepath.EvalSymlinks(dir) //nolint:forbidigo // only who may write there is asked, who then are root alone
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = missingRoots(dir)
		case err == nil:
			err = treeOfRoot(resolved)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// treeOfRoot tells whether root alone can change a directory and what is in it. Links to other
// directories are not followed, and taken for what others may change.
func treeOfRoot(dir string) error {
	if err := roots(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error { //nolint:forbidigo // the same
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			if to, err := os.Stat(name); err != nil || to.IsDir() {
				return changeable(name)
			}
			return roots(name)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 || st.Mode&0o022 != 0 {
			return changeable(name)
		}
		return nil
	})
}

// missingRoots tells whether nobody but root can make a directory that is not there.
func missingRoots(dir string) error {
	for !exists(dir) {
		dir = filepath.Dir(dir)
	}
	return roots(dir)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func changeable(name string) error {
	return fmt.Errorf("%w where others than root may change %s", sandbox.ErrNoAncestor, name)
}

// roots tells whether a file can be changed by root alone, or replaced.
func roots(name string) error {
	resolved, err := filepath.EvalSymlinks(name) //nolint:forbidigo // only who may write there is asked, who then are root alone
	if err != nil {
		return err
	}
	for at := resolved; ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		if st.Uid != 0 || st.Mode&0o022 != 0 {
			return changeable(at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// launch has the spawner fork the interpreter. Nobody waits until it was executed: the spawner is
// everybody's, and a file of the host's may be slow.
func (a *ancestor) launch(p sandbox.Process, hasRings bool) error {
	server, theirs, err := spawn.NewWaiter()
	if err != nil {
		return err
	}
	defer unix.Close(theirs)
	a.server = server
	// What the interpreter finds out about its streams, it finds out about its children's.
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])

	pidfd, clocks, err := a.c.spaces()
	if err != nil {
		return err
	}
	defer pidfd.Close()
	clocks.Close() // nil where there is none

	var program spawn.Program
	socket, namespaces := program.File(theirs), program.File(int(pidfd.Fd()))
	a.group.fork(&program, 0, func() {
		ch := child{p: &program, c: a.c, process: p}
		dieWithParent(&program)
		a.c.rt.host.dieFirst(&program)
		a.group.enter(&program)
		program.Call("enter the container", unix.SYS_SETNS, namespaces, spawn.Value(unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS))
		program.Call("setsid", unix.SYS_SETSID)
		for i, fd := range []int{pipe[0], pipe[1], pipe[1]} {
			program.Call("dup3", unix.SYS_DUP3, program.File(fd), spawn.FD(i), spawn.Value(0))
		}
		program.Call("dup3", unix.SYS_DUP3, socket, spawn.FD(spawn.AncestorFD), spawn.Value(0))
		for _, others := range [][2]uint32{{3, spawn.AncestorFD - 1}, {spawn.AncestorFD + 1, math.MaxUint32}} {
			program.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(others[0]), spawn.Value(others[1]), spawn.Value(unix.CLOSE_RANGE_CLOEXEC))
		}
		program.Call("umask", unix.SYS_UMASK, spawn.Value(0o022))
		holds := ancestral | capabilities()&(1<<unix.CAP_IPC_LOCK) // by which all rings together may pin more than RLIMIT_MEMLOCK
		dropBounds(&program, holds)
		program.HoldOnly(unix.SYS_CAPSET, holds)
		for _, l := range a.c.rlimits(p.Limits, a.group.held) {
			if l.Resource == unix.RLIMIT_STACK { // by which the kernel lays out memory
				program.SetLimit(unix.SYS_PRLIMIT64, l)
			}
		}
		program.UnblockSignals(unix.SYS_RT_SIGPROCMASK)
		if hasRings {
			err = refuseRings(&program)
		}
		ch.become()
	})
	if err != nil {
		return err
	}
	reply, err := a.c.spawner.Do(&program)
	if err == nil {
		a.pid = reply.PID
	}
	return err
}

// refuseRings appends a filter by which an interpreter makes no ring for itself; but for that by which
// pages are pinned, which has one entry.
func refuseRings(p *spawn.Program) error {
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return err
	}
	filter, err := seccomp.Compile(seccomp.Policy{Default: seccomp.Allow, Rules: []seccomp.Rule{{
		Why: "children would have it in common", Names: []string{"io_uring_setup"},
		When: []seccomp.Condition{seccomp.Not(seccomp.Equal32(0, pinningEntries))}, Action: seccomp.Fail(seccomp.ENOSYS),
	}}}, arch)
	if err == nil {
		p.Seccomp(unix.SYS_SECCOMP, seccomp.Marshal(filter), 0)
	}
	return err
}

// giveUp ends an ancestor that has not done something in time, and its children that are on their
// way.
func (a *ancestor) giveUp() {
	_ = a.group.cg.Kill()
	_ = a.server.Close()
}

func ofAncestor(err error) error {
	if errors.Is(err, spawn.ErrGone) {
		return errors.New("an ancestor has ended")
	}
	return err
}

// Start implements [sandbox.Ancestor].
func (a *ancestor) Start(ctx context.Context, in sandbox.Container, p sandbox.Process) (sandbox.Running, error) {
	c, ours := in.(*container)
	if !ours || !c.walls.namespaces || c.network != nil || c.spec.Tenant != a.c.spec.Tenant || p.TTY != nil || p.TraceDenied || p.Stdin == nil || p.Stdout == nil || p.Stderr == nil {
		return nil, errors.New("an ancestor has no children in such a container, or with such streams")
	}
	timer := time.NewTimer(ancestorWaits)
	defer timer.Stop()
	select {
	case a.onWay <- struct{}{}:
		defer func() { <-a.onWay }()
	case <-timer.C:
		return nil, sandbox.ErrAncestorBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	carried := a.carried.Load()
	if limit := &p.Limits.MemoryBytes; *limit > 0 {
		if *limit -= carried; *limit <= 0 {
			return nil, fmt.Errorf("a child of an ancestor has %d bytes of memory before it begins, which is past its limit", carried)
		}
	}
	return c.start(p, func(p sandbox.Process) (*process, error) {
		return c.newProcess(ctx, p, func(pr *process) error {
			pr.group.carried = carried
			err := pr.descend(a, p)
			if err != nil {
				pr.miscarry()
			}
			return err
		})
	})
}

// miscarry ends the container of a child that was to be: it may be on its way still, where init
// may not signal it.
func (pr *process) miscarry() {
	_ = pr.group.cg.Kill()
	_ = pr.c.init.Kill()
}

// descend has an ancestor fork what will be the process, and init take it for a child of its.
func (pr *process) descend(a *ancestor, p sandbox.Process) error {
	var program spawn.Program
	ch, err := pr.child(&program, p)
	if err != nil {
		return err
	}
	if err := pr.group.letRootIn(); err != nil {
		return err
	}
	group, _ := pr.group.cg.V2Dir()
	pidfd, clocks, err := pr.c.spaces()
	if err != nil {
		return err
	}
	defer pidfd.Close()
	defer clocks.Close()
	pr.openStreamsInside(&ch, p)
	namespaces := program.File(int(pidfd.Fd()))
	program.Call("enter the pid namespace", unix.SYS_SETNS, namespaces, spawn.Value(unix.CLONE_NEWPID))
	program.Beget(group, func() {
		pr.group.enter(&program)
		a.foresee(&program, p.Calm)
		if clocks != nil {
			program.Call("enter the time namespace", unix.SYS_SETNS, program.File(int(clocks.Fd())), spawn.Value(unix.CLONE_NEWTIME))
		}
		program.Call("enter the container", unix.SYS_SETNS, namespaces,
			spawn.Value(unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWUSER))
		dropBounds(&program, 0)
		if err = ch.enclose(); err != nil {
			return
		}
		program.Chdir(unix.SYS_CHDIR, p.Dir)
		// As execve has it: with its memory it has become another's than root's.
		program.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(1))
		a.files.renew(&program)
		if a.threads > 0 {
			program.ResumeThreads()
		}
		program.Return()
	})
	if err != nil {
		return err
	}
	pr.started = time.Now()
	forks := time.AfterFunc(ancestorForks, a.giveUp)
	child, err := a.server.Beget(&program)
	forks.Stop()
	pr.streams.closeTheirs()
	if err != nil {
		return ofAncestor(err)
	}
	fault.Point("child of an ancestor forked")
	defer a.server.Forget(child)
	takes := time.AfterFunc(descendantTakes, pr.miscarry)
	err = pr.adopt(child)
	if !takes.Stop() && err == nil {
		err = errors.New("the child of an ancestor has taken too long")
	}
	if err != nil {
		return err
	}
	fault.Point("child of an ancestor adopted")
	return pr.group.settle()
}

// adopt has init take the child of an ancestor for its own, and returns when it has come back.
func (pr *process) adopt(child *spawn.Descendant) error {
	pr.pid = child.PID
	var program spawn.Program
	program.Adopt(pr.pid)
	err := pr.c.ask(&program)
	if err == nil {
		pr.end = pr.c.init.Child(pr.pid)
		fault.Point("child of an ancestor on its way")
		select {
		case <-child.Back:
			return ofAncestor(child.Err())
		case <-pr.end.Over():
		}
	} else if !errors.Is(err, unix.ESRCH) { // init has not buried it already
		return err
	}
	select {
	case <-child.Back: // if it had come back, its end is a program's
		if errors.Is(err, unix.ESRCH) {
			err = errors.New("the child of an ancestor has come back and ended")
		}
		return cmp.Or(ofAncestor(child.Err()), err)
	case <-time.After(descendantTells):
		return errors.New("the child of an ancestor has ended on its way")
	}
}

// spaces are descriptors by which an ancestor's child enters the container: a pidfd of its
// init, and the time namespace of init's children, nil where the kernel has none.
func (c *container) spaces() (pidfd, clocks *os.File, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted { // as is the process, and soon the descriptor
		return nil, nil, fmt.Errorf("container %s is deleted", c.id)
	}
	fd, err := unix.FcntlInt(c.init.Pidfd.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	pidfd = os.NewFile(uintptr(fd), c.init.Pidfd.Name())
	clocks, err = os.Open(fmt.Sprintf("/proc/%d/ns/time_for_children", c.init.PID))
	if errors.Is(err, fs.ErrNotExist) {
		return pidfd, nil, nil
	}
	if err != nil {
		pidfd.Close()
	}
	return pidfd, clocks, err
}

// Close implements [sandbox.Ancestor].
func (a *ancestor) Close() error {
	if a == nil {
		return nil
	}
	a.ending.Do(func() { a.ended = a.end() })
	return a.ended
}

func (a *ancestor) end() error {
	if a.server != nil {
		_ = a.server.Close() // it ends then, if it has come so far
	}
	if a.group == nil || a.group.cg == nil {
		return nil
	}
	err := a.group.cg.Kill()
	fault.Point("ancestor ended")
	if a.pid != 0 {
		exit, lost := a.c.spawner.Wait(a.pid)
		if lost != nil && !errors.Is(lost, spawn.ErrGone) {
			err = errors.Join(err, lost)
		}
		a.unable = lost == nil && !exit.Status.Signaled() && exit.Status.ExitStatus() == spawn.AncestorUnable
	}
	a.c.removeGroup(a.group)
	return err
}
