package local

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Expect implements [sandbox.Expecter]. It forks what will be the program and puts it into
// its control group and behind its filter, where it waits for a command. Only where our own
// answers stand around a program nothing is made ahead.
func (c *container) Expect(ctx context.Context, p sandbox.Process) error {
	c.starting.Lock()
	defer c.starting.Unlock()
	if !c.walls.namespaces || c.network != nil || c.supervisesFiles() || c.expected != nil {
		return nil
	}
	if err := c.mayStart(p); err != nil {
		return err
	}
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), io.Discard, io.Discard
	pr, err := c.newProcess(ctx, p, func(pr *process) error {
		pr.expected = p
		return pr.forkWaiter(p)
	})
	c.expected = pr
	if err != nil {
		return err
	}
	pr.Attend()
	_, err = c.Files(sandbox.WorkspaceDir) // which everybody asks for
	return err
}

// forkWaiter forks a child that has all but its command, and returns when it waits for that.
func (pr *process) forkWaiter(p sandbox.Process) error {
	waiter, theirs, err := spawn.NewWaiter()
	if err != nil {
		return err
	}
	defer unix.Close(theirs)
	pr.waiter = waiter
	if _, err := pr.fork(p, 0, theirs, func(ch *child) { ch.p.Await() }); err != nil {
		return err
	}
	fault.Point("process forked ahead")
	err = pr.c.answered(waiter, new(spawn.Program)) // it answers once everything is in force
	if errors.Is(err, spawn.ErrGone) {
		return errors.New("a process that was to wait for its command has ended")
	}
	return err
}

// fits tells whether what waits can be p: all that it was given before its command is the same.
func (pr *process) fits(p sandbox.Process) bool {
	policy, err := pr.c.processPolicy(p)
	return err == nil && p.TTY == nil && !p.TraceDenied && pr.c.init.Lives(pr.pid) &&
		reflect.DeepEqual(policy, pr.policy) && slices.Equal(p.ReadOnly, pr.expected.ReadOnly) &&
		reflect.DeepEqual(inherited(p.Limits), inherited(pr.expected.Limits))
}

// inherited are the limits that a process is born with.
func inherited(l sandbox.Limits) sandbox.Limits {
	l.WallTime, l.Strict = 0, nil
	return l
}

// become has what waits be the program.
func (pr *process) become(p sandbox.Process) error {
	if err := pr.c.isolation.CheckStrict(p.Limits); err != nil {
		return err
	}
	fault.Point("process prepared")
	var program spawn.Program
	missing, closeMissing := pr.streams.without(p)
	if len(missing) > 0 {
		null := program.Call("open /dev/null", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), program.String(os.DevNull), spawn.Value(unix.O_RDWR|unix.O_CLOEXEC)).Save()
		for _, fd := range missing {
			program.Call("dup3", unix.SYS_DUP3, null, spawn.FD(fd), spawn.Value(0))
		}
	}
	ch := child{p: &program, c: pr.c, process: p, waited: true}
	ch.become()
	pr.started = time.Now()
	err := pr.waiter.Become(&program, func() { // execve takes as long, and may do so on another core
		closeMissing()
		pr.PrepareFigures()
	})
	if err != nil {
		closeMissing()
		return pr.c.startError(p, err)
	}
	fault.Point("process started")
	return nil
}

// forget frees what a process holds that waits in a container which has ended.
func (pr *process) forget() {
	if pr == nil {
		return
	}
	_ = pr.waiter.Close() // as its other end is by now
	pr.streams.close()
	pr.c.removeGroup(pr.group)
}
