package local

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// holders finds the files of a container that have no name any more, or never had
// one, by the processes that hold them.
type holders struct {
	sample *diskSample
	base   string      // what the kernel calls the directory of all trees
	round  int         // how often the tree was gone through
	seen   map[int]int // processes, and the round that they were met in last
	held   map[uint64]struct{}
	mapped map[uint64]struct{}
}

// nameless counts files without a name. Each process is looked at as soon as it is
// found, and their tree is gone through until nothing in it is new: so what one
// hands on to the next as it ends is met somewhere.
func (s *diskSample) nameless() {
	workspace, err := os.Readlink(selfPath(s.c.trees[sandbox.WorkspaceDir]))
	base, ours := strings.CutSuffix(workspace, sandbox.WorkspaceDir)
	if err != nil || !ours {
		s.hides = true
		return
	}
	h := holders{sample: s, base: base, seen: map[int]int{}, held: map[uint64]struct{}{}, mapped: map[uint64]struct{}{}}
	init := s.c.init.PID
	h.seen[init] = 0 // has nothing of theirs
	const rounds = 4
	for before := 0; before != len(h.seen) && h.round < rounds; {
		before = len(h.seen)
		h.round++
		h.process(init)
	}
	for inode := range h.mapped {
		if _, counted := h.held[inode]; !counted {
			s.hides = true // it is there, and who has no right to open it cannot tell how large it is
		}
	}
}

// process looks at a process that is new, and at those below it.
func (h *holders) process(pid int) {
	round, known := h.seen[pid]
	if known && round == h.round {
		return
	}
	if len(h.seen) > maxDescendants {
		h.sample.hides = true
		return
	}
	h.seen[pid] = h.round
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks) // it may have gone
	rand.Shuffle(len(threads), func(i, j int) { threads[i], threads[j] = threads[j], threads[i] })
	mapped := known
	for _, thread := range threads {
		if !known {
			mapped = h.thread(filepath.Join(tasks, thread.Name()), !mapped) || mapped
		}
	}
	for _, thread := range threads {
		list, _ := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		for _, field := range bytes.Fields(list) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				h.process(child)
			}
		}
	}
}

// thread looks at what a thread holds: each may have descriptors of its own. What is
// mapped they share; it tells whether it has seen that.
func (h *holders) thread(path string, maps bool) (mapped bool) {
	thread, err := os.Open(path)
	if err != nil {
		return false // it has ended
	}
	defer thread.Close()
	descriptors, err := unix.Openat(int(thread.Fd()), "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		h.missed(thread, err)
		return false
	}
	defer unix.Close(descriptors)
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(descriptors, buf)
		if n <= 0 {
			h.missed(thread, err)
			break
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			h.open(thread, descriptors, name)
		}
	}
	h.open(thread, int(thread.Fd()), "cwd")
	h.open(thread, int(thread.Fd()), "exe")
	return maps && h.maps(thread)
}

// missed notes that a thread lets nobody look at it, unless it has ended or is about
// to: then it has no memory any more, and what it has is root's.
func (h *holders) missed(thread *os.File, err error) {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		h.sample.hides = h.sample.hides || !exiting(readAt(thread, "stat"))
	}
}

// exiting reads the flags of a thread. What is gone has none.
func exiting(stat []byte) bool {
	const pfExiting = 0x4 // PF_EXITING, linux/sched.h
	flags := statFields(stat, 9, 1)
	return flags == nil || flags[0]&pfExiting != 0
}

// open counts what an open descriptor leads to, if that has no name. A socket may
// have others in its queue, of which only the number can be had.
func (h *holders) open(thread *os.File, dir int, name string) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, 0); err != nil {
		h.missed(thread, err)
		return
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFSOCK:
		_, inFlight, ok := bytes.Cut(readAt(thread, "fdinfo/"+name), []byte("scm_fds:"))
		if ok && !bytes.HasPrefix(bytes.TrimSpace(inFlight), []byte("0")) {
			h.sample.hides = true
		}
	case st.Nlink == 0 && (kind == unix.S_IFREG || kind == unix.S_IFDIR):
		var buf [unix.PathMax]byte
		n, err := unix.Readlinkat(dir, name, buf[:])
		if err != nil { // ENAMETOOLONG: its directory is deeper than paths are long
			h.sample.missed(err)
			return
		}
		if u := h.disk(string(buf[:n])); u != nil {
			h.sample.count(&st, u)
			h.held[st.Ino] = struct{}{}
		}
	}
}

// disk is the one that a file is on which the kernel calls path, or nil.
func (h *holders) disk(path string) *sandbox.DiskUsage {
	below, ours := strings.CutPrefix(path, h.base)
	if !ours {
		return nil
	}
	for i, d := range h.sample.disks {
		for _, dir := range d.dirs {
			if _, inside := strings.CutPrefix(below, filepath.Clean(dir)+"/"); inside {
				return &h.sample.used[i]
			}
		}
	}
	return nil
}

// maps notes the mapped files that have no name. A thread that has ended has none.
func (h *holders) maps(thread *os.File) (some bool) {
	fd, err := unix.Openat(int(thread.Fd()), "maps", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		h.missed(thread, err)
		return false
	}
	f := os.NewFile(uintptr(fd), "maps")
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		some = true
		if line := lines.Bytes(); bytes.HasSuffix(line, []byte(" (deleted)")) && bytes.Contains(line, []byte(" "+h.base+"/")) {
			const inode = 4 // address, permissions, offset, device, inode, path
			number, _ := strconv.ParseUint(string(bytes.Fields(line)[inode]), 10, 64)
			h.mapped[number] = struct{}{}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		h.sample.hides = true
	}
	return some
}
