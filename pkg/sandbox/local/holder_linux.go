package local

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/hold"
)

// holder is a process that has the memory of another, which waits for its work, and does nothing.
//
// The kernel takes a process's memory down before it tells of its end, 0.3 ms of a forked Python's
// and 1 to 2 of a Node's. But who does that is the last that has the memory, which so is the holder: it
// is killed when the end is known. It is in the same container, as the same user and behind the same
// walls, is counted for nothing, and has no file open. A program may end it, or have it run on: then
// it is what any process is that a program has left behind.
type holder struct {
	mu    sync.Mutex
	pidfd *os.File // nil where there is none
	over  bool     // the process has ended
}

// holdTakes is how long a process that waits may take for a few system calls.
const holdTakes = 2 * time.Second

// HoldMemory implements [sandbox.Holding]. Nothing is held where nobody may be traced
// (kernel.yama.ptrace_scope), or where no control group counts who is left and what they have.
func (pr *process) HoldMemory() error {
	g := pr.group
	if !hold.Supported || !pr.c.walls.namespaces || !g.held.processes || !g.held.memory {
		return nil
	}
	pids, err := g.cg.Processes()
	if err != nil || len(pids) != 1 {
		return err
	}
	stuck := time.AfterFunc(holdTakes, pr.killOnce)
	runtime.LockOSThread() // who traces is a thread
	defer runtime.UnlockOSThread()
	pidfd, err := pr.cloneHolder(pids[0])
	if !stuck.Stop() && err == nil {
		pidfd.Close()
		err = errors.New("it has taken too long")
	}
	if err != nil {
		return fmt.Errorf("hold the memory of a process that waits: %w", err)
	}
	pr.holder.hold(pidfd)
	fault.Point("memory held")
	return nil
}

// cloneHolder has a process, by its number here, make its holder, and gives that's pidfd: nil where
// none may be made, and the process is as it was.
func (pr *process) cloneHolder(pid int) (*os.File, error) {
	still := func() bool {
		pids, err := pr.group.cg.Processes()
		return err == nil && slices.Equal(pids, []int{pid})
	}
	pidfd, err := hold.Clone(pid, still, pr.group.admitHolders)
	if err != nil {
		pr.killOnce()
		hold.End(pid)
		err = errors.Join(err, pr.c.endTracees())
	}
	return pidfd, err
}

// endTracees ends what this thread traces of a container whose programs are killed: one that was killed
// as it made a clone has not told of that, and nobody else could bury it.
func (c *container) endTracees() error {
	for deadline := time.Now().Add(holdTakes); ; time.Sleep(time.Millisecond) { //nolint:forbidigo // no event tells of all
		left, err := descendants(c.init.PID) // may miss some, where others go meanwhile
		if len(left) == 0 || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v have not ended", left)
		}
		for _, pid := range left {
			hold.End(pid)
		}
	}
}

// hold takes a holder, nil for none.
func (h *holder) hold(pidfd *os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over && pidfd != nil {
		pidfd.Close()
		return
	}
	h.pidfd = pidfd
}

// release ends the holder of a process that has ended, and tells whether there was one and nothing else
// is left in the group. It is killed first, so that it makes no process any more, whatever it does; what
// is counted then, while it has not ended, is itself.
func (h *holder) release(g *group) (alone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.pidfd == nil {
		return false
	}
	defer h.pidfd.Close()
	fd := int(h.pidfd.Fd())
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // which fails for one that has ended
	for range 2 {
		left, known := g.cg.Tasks()
		if !known || left > 1 {
			return false
		}
		if left == 0 {
			return true
		}
		ended, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if ended == 0 && err == nil {
			return true
		}
	}
	return false
}

// buried waits until the holder of a process that has ended has taken the memory down. A CPU limit does
// not hold that up for long.
func (pr *process) buried() {
	late := time.AfterFunc(holderTakes, pr.group.hurry)
	defer late.Stop()
	pr.c.init.WaitIdle()
}

// holderTakes is how long a holder may take for that within the program's CPU limit.
const holderTakes = 20 * time.Millisecond
