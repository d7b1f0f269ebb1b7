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
//   - Without one but with a uid of its own, a process of that uid does the same.
//   - With neither, init is the subreaper of everything that runs and kills its
//     descendants until none is left.
func (c *container) killPrograms() error {
	var p spawn.Program
	everything := spawn.Value(-1)
	sigkill := spawn.Value(int(unix.SIGKILL))
	if c.walls.namespaces {
		p.Call("kill everything", unix.SYS_KILL, everything, sigkill).Allow(unix.ESRCH)
	} else {
		if c.identity.root && c.walls.ids {
			id := spawn.Value(c.identity.id + 1)
			// Whatever fails of it, such as a fork where there are too many processes:
			// the tree is killed as well.
			p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(uintptr(unix.SIGCHLD))}, func() {
				p.Call("setresuid", unix.SYS_SETRESUID, id, id, id)
				p.Call("kill everything of the uid", unix.SYS_KILL, everything, sigkill).Allow(unix.ESRCH)
			}).AllowAny()
		}
		p.KillTree()
	}
	err := c.tell(&p)
	if err != nil && c.walls.namespaces {
		return c.init.Kill() // which ends them, too
	}
	return err
}

// silence is how long an init may take for an answer. It makes a few system
// calls; but without namespaces a program of its own user may have stopped it.
const silence = 2 * time.Second

// tell has init make calls that end a program, and waits for no init that does
// not answer. One that is gone has ended everything.
func (c *container) tell(p *spawn.Program) error {
	answered := make(chan struct{})
	timer := time.AfterFunc(silence, func() { c.rouse(answered) })
	_, err := c.init.Do(p)
	timer.Stop()
	close(answered)
	if errors.Is(err, spawn.ErrGone) {
		return nil
	}
	return err
}

// rouse gets an init to answer: it is continued, since what it has to end would
// outlive it; in a pid namespace nothing does, so there it is killed.
func (c *container) rouse(answered <-chan struct{}) {
	for {
		if c.walls.namespaces {
			_ = c.init.Kill()
			return
		}
		_ = unix.PidfdSendSignal(int(c.init.Pidfd.Fd()), unix.SIGCONT, nil, 0)
		select {
		case <-answered:
			return
		case <-time.After(silence):
		}
	}
}

// killRest kills what a process has left behind and waits until it is gone.
func (c *container) killRest() {
	_ = c.killPrograms()
	c.init.WaitIdle()
}
