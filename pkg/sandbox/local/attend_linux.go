package local

import (
	"fmt"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// attendant is a process of ours beside the spawner. It traces programs for their ends alone, so that
// these are known before the kernel has taken a program down, which takes 0.3 ms of a forked Python and 1
// to 2 of a Node. It is one for all containers and in none of their namespaces: no program can see that
// it is traced, nor does it miss another tracer, since the filter lets nobody trace. When it ends it lets all go.
type attendant struct {
	mu   sync.Mutex
	init *spawn.Init
	end  *spawn.Child // the spawner's
}

// attendance is what the attendant does for one process.
type attendance struct {
	by    *spawn.Init
	pid   int // in our pid namespace
	child *spawn.Child
	bury  sync.Once
}

// attended is what a process has of the attendant.
type attended struct {
	begun chan struct{} // closed when it has an attendance

	mu   sync.Mutex
	over bool // it has ended, and is to have none
	*attendance
}

// Attend implements [sandbox.Attending], where a control group tells whether something else is left when
// a process ends. What is of somebody's image may do what it likes before it waits, and is not to
// hold up the one attendant: one that executes itself all the time is hard to begin to trace.
func (pr *process) Attend() {
	g := pr.group
	c := pr.c
	if !c.walls.namespaces || !g.held.processes || !g.held.memory || pr.supervisor != nil || c.network != nil || c.spec.Image != "" {
		return
	}
	pid, err := pr.onlyPID()
	if err != nil {
		return
	}
	at := c.rt.attendant.attend(&c.rt.recovery, pid)
	if at == nil {
		return
	}
	fault.Point("process attended")
	a := &pr.attended
	a.mu.Lock()
	defer a.mu.Unlock()
	if now, err := pr.onlyPID(); a.over || err != nil || now != pid { // the number may have been another's
		go at.letGo()
		return
	}
	a.attendance = at
	close(a.begun)
}

// onlyPID is the number, in our pid namespace, of a process that is alone in its group.
func (pr *process) onlyPID() (int, error) {
	pids, err := pr.group.cg.Processes()
	if err != nil {
		return 0, err
	}
	if len(pids) != 1 {
		return 0, fmt.Errorf("there are %d processes and not one", len(pids))
	}
	return pids[0], nil
}

// attend has the attendant trace a process. It gives nil where nobody may (kernel.yama.ptrace_scope, a
// filter around us), or where the process has ended.
func (a *attendant) attend(r *recovery, pid int) *attendance {
	by, err := a.ready(r)
	if err != nil {
		return nil
	}
	var p spawn.Program
	p.Attend(pid)
	if do(by, &p) != nil {
		return nil
	}
	return &attendance{by: by, pid: pid, child: by.Child(pid)}
}

// do has an attendant do something, which ends if that takes long: everybody's programs wait for it.
func do(by *spawn.Init, p *spawn.Program) error {
	late := time.AfterFunc(silence, func() { _ = by.Kill() })
	defer late.Stop()
	_, err := by.Do(p)
	return err
}

// ready is the attendant, or another in the place of one that has ended.
func (a *attendant) ready(r *recovery) (*spawn.Init, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.init != nil && !a.init.Gone() {
		return a.init, nil
	}
	a.close()
	init, spawner, err := r.fork(spawn.Namespaced{Child: dieWithParent})
	if err != nil {
		return nil, err
	}
	a.init, a.end = init, spawner.Child(init.PID)
	return init, nil
}

// close ends the attendant. The caller holds mu, or is the last.
func (a *attendant) close() {
	if a.init == nil {
		return
	}
	_ = a.init.Kill()
	_ = a.init.Close()
	<-a.end.Over()
	a.init.Pidfd.Close()
	a.init = nil
}

// release lets a process come to its end that is held there. If that fails the attendant has ended,
// and holds nobody.
func (at *attendance) release() {
	var p spawn.Program
	p.Release(at.pid)
	_ = do(at.by, &p)
}

// letGo ends an attendance whose process nobody waits for any more, or waits for otherwise.
func (at *attendance) letGo() {
	for {
		var p spawn.Program
		p.Unattend(at.pid)
		_ = do(at.by, &p)
		select {
		case <-at.child.Over():
			if exit, err := at.child.Exit(); err == nil && exit.Stage == spawn.StageHeld {
				at.release()
			}
			return
		case <-time.After(letGoWithin): // it may be gone
		}
	}
}

// letGoWithin is how long a process may take to stop, which it is told to, before it is looked for again.
const letGoWithin = 100 * time.Millisecond

// lastBreath waits until the process begins to end, or has ended. In the first case it is held, has left
// nothing behind, and is to be buried.
func (pr *process) lastBreath() (exit spawn.Exit, held bool) {
	a := &pr.attended
	select {
	case <-pr.end.Over():
	case <-a.begun:
		select {
		case <-pr.end.Over():
		case <-a.child.Over():
			exit, held = pr.lastOfGroup()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over = true; a.attendance != nil && !held {
		pr.c.cleanups.Go(a.letGo)
		a.attendance = nil
	}
	return exit, held
}

// lastOfGroup tells how a process ends that is held, and whether that is all of its group. It ends as a
// whole: another thread that executes a program in its place is one of the group until it is let go.
func (pr *process) lastOfGroup() (exit spawn.Exit, held bool) {
	exit, err := pr.attended.child.Exit()
	if err != nil || exit.Stage != spawn.StageHeld {
		return exit, false
	}
	fault.Point("process held")
	left, known := pr.group.cg.Tasks()
	return exit, known && left == 1
}

// bury lets a process that is held end, and waits until it is gone. Its CPU limit does not hold that up
// for long.
func (pr *process) bury() {
	at := pr.attended.attendance
	if at == nil {
		return
	}
	at.bury.Do(func() {
		at.release()
		hurried := make(chan struct{})
		late := time.AfterFunc(buriedWithin, func() {
			defer close(hurried)
			pr.group.hurry()
			_ = pr.c.killPrograms()
		})
		_, _ = pr.end.Exit()
		pr.c.init.WaitIdle()
		if !late.Stop() {
			<-hurried // and kills nobody else
		}
	})
}

// buriedWithin is how long an end may take within the program's CPU limit, and drainedWithin who reads what
// the program has written until it ends behind that.
const buriedWithin, drainedWithin = 20 * time.Millisecond, 200 * time.Millisecond
