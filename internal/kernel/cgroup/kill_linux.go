package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// Waiting for processes to die and for groups to become free is done in steps
// that double.
const (
	firstPause    = 50 * time.Microsecond
	lastPause     = 5 * time.Millisecond
	deleteTimeout = 2 * time.Second
	killTimeout   = 2 * time.Second
)

// Kill ends every process of the group. With version 2 that is one atomic
// write; on version 1 every process that is listed is killed, again and again
// until none is left, and after two seconds it is an error. A group that was
// deleted has no processes and is no error.
func (g *Group) Kill() error {
	if len(g.h.trees) == 0 {
		return fmt.Errorf("cannot kill group %s: this host has no control groups", g.name)
	}
	if t := g.h.treeOf(Kill); t != nil {
		return ignoreGone(t.base.write(t.file(g, "cgroup.kill"), "1"))
	}
	t := g.h.trees[0]
	return t.killListed(t.path(g))
}

// LiftCPU takes the CPU limit away for good: those who are killed need time to die,
// hundreds of them more than a small limit gives. A group that is gone is no error.
func (g *Group) LiftCPU() error {
	t := g.h.treeOf(CPU)
	if t == nil || g.limits.CPUs == 0 {
		return nil
	}
	file, value := quotaFile, NoQuota
	if t.version == 2 {
		file, value = "cpu.max", "max"
	}
	return ignoreGone(t.base.write(t.file(g, file), value))
}

// killListed kills what cgroup.procs lists until it lists nothing. It must win
// against a fork bomb: every round kills all that was born before it, and a
// process that has a fatal signal pending cannot fork.
func (t *tree) killListed(path string) error {
	deadline := time.Now().Add(killTimeout)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		pids, err := t.pids(path)
		if err != nil || len(pids) == 0 {
			return ignoreGone(err)
		}
		if err := t.signalAll(path, pids); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v in %s have not died within %v of being killed", pids, t.base.path(path), killTimeout)
		}
		time.Sleep(pause)
	}
}

// signalAll kills processes by their pids, but never one that has inherited the
// pid from a process of the group: what a pidfd refers to is settled before the
// list is read a second time, and only pids that are still listed are killed.
func (t *tree) signalAll(path string, pids []int) error {
	const batch = 256 // descriptors at a time; the next round takes the rest
	handles := make(map[int]int, batch)
	defer func() {
		for _, fd := range handles {
			unix.Close(fd)
		}
	}()
	for _, pid := range pids[:min(batch, len(pids))] {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == unix.ESRCH || err == unix.EINVAL { // reaped, or about to be
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot kill process %d of %s: pidfd_open: %w", pid, t.base.path(path), err)
		}
		handles[pid] = fd
	}
	still, err := t.pids(path)
	if err != nil {
		return ignoreGone(err)
	}
	for _, pid := range still {
		fd, ok := handles[pid]
		if !ok {
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
			return fmt.Errorf("cannot kill process %d of %s: %w", pid, t.base.path(path), err)
		}
	}
	return nil
}

// Processes lists processes of the group, by their numbers here: as many as the kernel tells in
// one call, which is a page full.
func (g *Group) Processes() ([]int, error) {
	if len(g.h.trees) == 0 {
		return nil, fmt.Errorf("cannot list the processes of %s: this host has no control groups", g.name)
	}
	t := g.h.trees[0]
	return t.pids(t.path(g))
}

// pids lists processes in a group: as many as the kernel tells in one call,
// which is a page full.
func (t *tree) pids(path string) ([]int, error) {
	var buf [4096]byte
	data, err := t.base.read(path+"/cgroup.procs", buf[:])
	if err != nil {
		return nil, err
	}
	return parsePIDs(data), nil
}

// ignoreGone turns the errors of a group that no longer exists into none: a
// file that was open when the group was removed answers ENODEV.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}
