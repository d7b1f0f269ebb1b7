package local

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// killPrograms kills every program of the container. It returns when each has
// been signalled, which nobody can escape:
//
//   - In a pid namespace, kill(-1) of its pid 1 reaches all the rest, at once:
//     the kernel lets no fork slip between.
//   - Without one but with a uid of its own, kill(-1) of an init that has become
//     that uid does the same.
//   - With neither, init is the subreaper of everything that runs and kills its
//     descendants until none is left.
func (c *container) killPrograms() error {
	if c.walls.namespaces {
		var p spawn.Program
		killEverything(&p)
		if err := c.tell(&p); err != nil {
			return c.killInit()
		}
		return nil
	}
	var ofUser error
	if c.identity.root && c.walls.ids {
		ofUser = c.killUser()
	}
	var p spawn.Program
	p.KillTree()
	err := c.ask(&p)
	if errors.Is(err, spawn.ErrGone) {
		err = c.killGroup()
	}
	return errors.Join(ofUser, err)
}

// killGroup kills what is in the control group of the program, if it has one: without
// namespaces it outlives an init that has died.
func (c *container) killGroup() error {
	c.mu.Lock()
	pr := c.running
	c.mu.Unlock()
	if pr == nil || pr.group.cg == nil {
		return nil
	}
	return pr.group.cg.Kill()
}

// killUser has init, which is root, kill everything of the programs' uid. It forks
// nothing for that: where there are too many processes it could not, and KillTree
// would end its child, too.
//
// A signal passes where the effective or real uid of its sender is the real or saved
// one of its target (kill(2)). So the effective one becomes the programs'; the real
// one that of init's of this pair of ids, which nobody has: were it 0, everything of
// root's would die. The saved one stays 0, for the way back. No program has the real or
// the saved one, so none can signal init meanwhile. If one call fails, those behind it
// are not made.
func (c *container) killUser() error {
	var p spawn.Program
	root := spawn.Value(0)
	p.Call("setresuid of a killer", unix.SYS_SETRESUID, spawn.Value(c.identity.id), spawn.Value(c.identity.programUser()), root)
	killEverything(&p)
	p.Call("setresuid of init", unix.SYS_SETRESUID, root, root, root)
	err := c.ask(&p)
	if errors.Is(err, spawn.ErrGone) {
		return c.killOrphans()
	}
	return err
}

// killOrphans has a child of the spawner kill everything of the programs' uid: without
// namespaces they outlive an init that has died.
func (c *container) killOrphans() error {
	var p spawn.Program
	own := spawn.Value(c.identity.id)
	p.Fork("fork a killer", unix.SYS_CLONE, []spawn.Arg{spawn.Value(uintptr(unix.SIGCHLD))}, func() {
		p.Call("setresuid of a killer", unix.SYS_SETRESUID, own, spawn.Value(c.identity.programUser()), own)
		killEverything(&p)
	})
	reply, err := c.spawner.Do(&p)
	if err == nil {
		_, err = c.spawner.Wait(reply.PID)
	}
	return err
}

// killEverything appends kill(-1), which may find nothing.
func killEverything(p *spawn.Program) {
	p.Call("kill everything", unix.SYS_KILL, spawn.Value(-1), spawn.Value(int(unix.SIGKILL))).Allow(unix.ESRCH)
}

// silence is how long an init may take for an answer. It makes a few system
// calls; but without namespaces a program of its own user may have stopped it.
const silence = 2 * time.Second

// tell is ask for an init with which all that it has started ends, too.
func (c *container) tell(p *spawn.Program) error {
	err := c.ask(p)
	if errors.Is(err, spawn.ErrGone) {
		return nil
	}
	return err
}

// ask has init make calls that end a program, and waits for no init that does
// not answer.
func (c *container) ask(p *spawn.Program) error { return c.answered(c.init.Server, p) }

// answered has init, or a child of its, make calls.
func (c *container) answered(by *spawn.Server, p *spawn.Program) error {
	answered := make(chan struct{})
	timer := time.AfterFunc(silence, func() { c.rouse(answered) })
	_, err := by.Do(p)
	timer.Stop()
	close(answered)
	return err
}

// rouse gets an init to answer: it is continued, since what it has to end would
// outlive it; in a pid namespace nothing does, so there it is killed.
func (c *container) rouse(answered <-chan struct{}) {
	for {
		if c.walls.namespaces {
			_ = c.killInit()
			return
		}
		_ = c.init.Signal(unix.SIGCONT)
		select {
		case <-answered:
			return
		case <-time.After(silence):
		}
	}
}

// killInit kills the init of a pid namespace, and with it all that it has: the end of a
// process is ours then, and not init's failure.
func (c *container) killInit() error {
	c.killed.Store(true)
	return c.init.Kill()
}

// killRest kills what a process has left behind and waits until it is gone.
func (c *container) killRest() {
	_ = c.killPrograms()
	c.init.WaitIdle()
}
