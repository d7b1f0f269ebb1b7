package cgroup

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NotifyOOM calls f each time the kernel has killed for want of memory in this
// group, so that the caller can end the rest of it: version 1 kills one process
// and lets the others live. On version 2 the kernel ends the whole group itself
// (memory.oom.group) and f is never called. It must be called before the first
// process is started. By the time of the call [Stats.OOMKills] has counted.
//
// After stop has returned f is not running and will not run; f must not call
// stop.
func (g *Group) NotifyOOM(f func()) (stop func(), err error) {
	t := g.h.treeOf(Memory)
	if t == nil || t.version == 2 {
		return func() {}, nil
	}
	// Non-blocking, so that the runtime waits for it together with all others
	// and not with a thread for each.
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("cannot watch group %s for OOM kills: eventfd: %w", g.name, err)
	}
	event := os.NewFile(uintptr(fd), "oom event of "+g.name)
	if err := t.watchOOM(g, fd); err != nil {
		event.Close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var seen int64
		for waitEvent(event) {
			if n := t.awaitOOMKill(g, seen); n > seen {
				seen = n
				f()
			}
		}
	}()
	return func() {
		event.Close()
		<-done
	}, nil
}

// watchOOM registers an eventfd with the group.
func (t *tree) watchOOM(group *Group, event int) error {
	control, err := t.base.open(t.file(group, "memory.oom_control"), unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer control.Close()
	return t.base.write(t.file(group, "cgroup.event_control"), fmt.Sprintf("%d %d", event, control.Fd()))
}

// awaitOOMKill returns the count of OOM kills when it has passed seen, or seen
// when it does not. The kernel raises the event before it chooses a victim. To
// kill the group in between would leave nothing to choose and nothing counted,
// and a memory limit would look like an ordinary kill. An event without a victim
// is normal too: memory became free after all, or the group was removed.
func (t *tree) awaitOOMKill(group *Group, seen int64) int64 {
	var buf [256]byte
	deadline := time.Now().Add(oomTimeout)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		data, err := t.base.read(t.file(group, "memory.oom_control"), buf[:])
		n, ok := keyed(data, "oom_kill")
		if err != nil || !ok || n > seen || time.Now().After(deadline) {
			return max(n, seen)
		}
		time.Sleep(pause)
	}
}

// oomTimeout is how long the kernel may take to choose a victim and kill it.
const oomTimeout = 200 * time.Millisecond

// waitEvent waits for the next event; false when the descriptor was closed. The
// kernel also raises one when the group is removed.
func waitEvent(event *os.File) bool {
	var count [8]byte
	n, err := event.Read(count[:])
	return n == len(count) && err == nil
}
