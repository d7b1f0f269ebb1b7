package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ancestor is an interpreter in the root of a container whose programs it is none of: it is
// in no pid namespace but ours, so that children of it can be in anybody's, and it is root, with
// just the capabilities that it takes to enter namespaces. It never sees anything of a run. Its
// children have nothing of that left before they go on as interpreters.
type ancestor struct {
	c      *container // whose root it has
	group  *group
	server *spawn.Server
	pid    int // the spawner's child
	ending sync.Once
}

// ancestral are the capabilities of an ancestor: what setns takes, of another's by its pidfd.
const ancestral = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_SYS_PTRACE

// Ancestor implements [sandbox.Ancestral]. The interpreter must be the host's, and root's.
func (c *container) Ancestor(_ context.Context, p sandbox.Process, library string) (_ sandbox.Ancestor, err error) {
	switch code := spawn.AncestorLibrary(); {
	case len(code) == 0:
		return nil, fmt.Errorf("%w on this architecture", sandbox.ErrNoAncestor)
	case !c.walls.namespaces || !c.identity.root || c.image != nil || c.network != nil || c.rt.host.cgroups == nil || len(p.Args) == 0:
		return nil, fmt.Errorf("%w but where root isolates fully, with the host's programs, without a network and with control groups", sandbox.ErrNoAncestor)
	default:
		if err := roots(p.Args[0]); err != nil {
			return nil, err
		}
		tree, err := c.Files(sandbox.WorkspaceDir)
		if err == nil {
			err = tree.WriteFile(library, bytes.NewReader(code), 0o755)
		}
		if err != nil {
			return nil, err
		}
	}
	a := &ancestor{c: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.group, err = c.newGroup(p.Limits); err != nil {
		return nil, err
	}
	if err := a.launch(c.translate(p)); err != nil {
		return nil, fmt.Errorf("start an ancestor: %w", err)
	}
	_, err = a.do(new(spawn.Program)) // it answers once it waits
	if errors.Is(err, spawn.ErrGone) {
		err = errors.New("an interpreter that was to be an ancestor has ended")
	}
	return a, err
}

// roots tells whether a program of the host's can be changed by root alone.
func roots(program string) error {
	resolved, err := filepath.EvalSymlinks(program) //nolint:forbidigo // only who may write there is asked, who then are root alone
	if err != nil {
		return err
	}
	for at := resolved; ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		if st.Uid != 0 || st.Mode&0o022 != 0 {
			return fmt.Errorf("%w is made of %s: others than root may change %s", sandbox.ErrNoAncestor, program, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// launch has the spawner fork the interpreter, and returns when it was executed.
func (a *ancestor) launch(p sandbox.Process) error {
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

	var program spawn.Program
	socket, namespaces := program.File(theirs), program.File(int(a.c.init.Pidfd.Fd()))
	a.group.fork(&program, unix.CLONE_VFORK, func() {
		ch := child{p: &program, c: a.c, process: p}
		program.Call("prctl PR_SET_PDEATHSIG", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_PDEATHSIG), spawn.Value(uintptr(unix.SIGKILL)))
		a.c.rt.host.dieFirst(&program)
		a.group.enter(&program)
		program.Call("enter the container", unix.SYS_SETNS, namespaces, spawn.Value(unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS))
		program.Call("setsid", unix.SYS_SETSID)
		for i, fd := range []int{pipe[0], pipe[1], pipe[1]} {
			program.Call("dup3", unix.SYS_DUP3, program.File(fd), spawn.FD(i), spawn.Value(0))
		}
		program.Call("dup3", unix.SYS_DUP3, socket, spawn.FD(3), spawn.Value(0))
		program.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(4), spawn.Value(uint32(1<<32-1)), spawn.Value(unix.CLOSE_RANGE_CLOEXEC))
		program.Call("umask", unix.SYS_UMASK, spawn.Value(0o022))
		dropBounds(&program, ancestral)
		program.HoldOnly(unix.SYS_CAPSET, ancestral)
		program.UnblockSignals(unix.SYS_RT_SIGPROCMASK)
		ch.become()
	})
	reply, err := a.c.spawner.Do(&program)
	a.pid = reply.PID
	return err
}

// do has the ancestor make calls. One that does not answer is ended.
func (a *ancestor) do(p *spawn.Program) (spawn.Reply, error) {
	timer := time.AfterFunc(silence, func() { _ = a.group.cg.Kill() })
	defer timer.Stop()
	return a.server.Do(p)
}

// Start implements [sandbox.Ancestor].
func (a *ancestor) Start(ctx context.Context, in sandbox.Container, p sandbox.Process) (sandbox.Running, error) {
	c, ours := in.(*container)
	if !ours || !c.walls.namespaces || c.network != nil || c.spec.Tenant != a.c.spec.Tenant || p.TTY != nil || p.TraceDenied {
		return nil, errors.New("an ancestor has no children in such a container")
	}
	return c.start(p, func(p sandbox.Process) (*process, error) {
		pr := &process{Ending: alive.NewEnding(), c: c}
		err := pr.prepare(ctx, p)
		if err == nil {
			err = pr.descend(a, p)
		}
		if err != nil {
			pr.abandon()
			return nil, err
		}
		return pr, nil
	})
}

// descend has an ancestor fork what will be the process, and init take it for a child of its.
func (pr *process) descend(a *ancestor, p sandbox.Process) error {
	pr.started = time.Now()
	var program spawn.Program
	ch, err := pr.child(&program, p)
	if err != nil {
		return err
	}
	groups, err := pr.group.cg.Enter()
	if err != nil {
		return err
	}
	defer closeFiles(groups)
	clocks, err := os.Open(fmt.Sprintf("/proc/%d/ns/time_for_children", pr.c.init.PID))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	defer clocks.Close()
	pr.openStreamsInside(&ch, p)
	namespaces := program.File(int(pr.c.init.Pidfd.Fd()))
	program.Call("enter the pid namespace", unix.SYS_SETNS, namespaces, spawn.Value(unix.CLONE_NEWPID))
	program.Beget(func() {
		for _, f := range groups {
			program.Call("enter the control group", unix.SYS_WRITE, program.File(int(f.Fd())), program.String("0"), spawn.Value(1))
		}
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
		program.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(3), spawn.Value(uint32(1<<32-1)), spawn.Value(0))
		program.Return()
	})
	if err != nil {
		return err
	}
	for _, fd := range ch.opened {
		program.Call("close", unix.SYS_CLOSE, fd)
	}
	reply, err := a.do(&program)
	pr.streams.closeTheirs()
	if err != nil {
		return err
	}
	pr.pid = reply.PID
	var adopt spawn.Program
	adopt.Adopt(pr.pid)
	if err := pr.c.ask(&adopt); err != nil {
		return err
	}
	return pr.group.settle()
}

// Close implements [sandbox.Ancestor].
func (a *ancestor) Close() (err error) {
	a.ending.Do(func() { err = a.end() })
	return err
}

func (a *ancestor) end() error {
	if a.server != nil {
		_ = a.server.Close() // it ends then, if it has come so far
	}
	if a.group == nil || a.group.cg == nil {
		return nil
	}
	err := a.group.cg.Kill()
	if a.pid != 0 {
		if _, lost := a.c.spawner.Wait(a.pid); lost != nil && !errors.Is(lost, spawn.ErrGone) {
			err = errors.Join(err, lost)
		}
	}
	a.c.removeGroup(a.group)
	return err
}
