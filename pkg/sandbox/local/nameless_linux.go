package local

import (
	"bufio"
	"bytes"
	"errors"
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
	left   int         // of what one look is at
	held   map[uint64]struct{}
	mapped map[uint64]struct{}
}

// A look is at so many descriptors, threads and mapped files at most, of which a process takes as
// many as it costs to look at one. While a look lasts nothing holds a limit: this is a sixth of a
// second where nothing else runs, and more than 4,000 threads take that have one table of 16,384
// descriptors, or 128 processes with 256 each. What a look does not get to is hidden.
const (
	maxHeld    = 40_000
	perProcess = 16
)

// spend tells whether a look may go on to something that costs as much as so many descriptors.
func (h *holders) spend(cost int) bool {
	if h.left -= cost; h.left < 0 {
		h.sample.hides = true
	}
	return h.left >= 0
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
	h := holders{sample: s, base: base, seen: map[int]int{}, left: maxHeld, held: map[uint64]struct{}{}, mapped: map[uint64]struct{}{}}
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
	if known && round == h.round || !known && !h.spend(perProcess) {
		return
	}
	h.seen[pid] = h.round
	tasks := tasksOf(pid)
	threads := threadsIn(tasks)
	rand.Shuffle(len(threads), func(i, j int) { threads[i], threads[j] = threads[j], threads[i] })
	if !known {
		h.threads(tasks, threads)
	}
	for _, thread := range threads {
		if !h.spend(1) {
			return
		}
		for _, child := range childrenOf(tasks, thread) {
			h.process(child)
		}
	}
}

// threads looks at what the threads of a process hold. Each may have descriptors of its own, which
// hardly any has: what is the same table is looked at once. What is mapped they share.
func (h *holders) threads(tasks string, ids []int) {
	table, mapped := 0, false
	for _, id := range ids {
		if !h.spend(1) {
			return
		}
		thread, err := os.Open(filepath.Join(tasks, strconv.Itoa(id)))
		if err != nil {
			continue // it has ended
		}
		h.open(thread, int(thread.Fd()), "cwd")
		if (table == 0 || !sameTable(table, id)) && h.descriptors(thread) {
			table = id
		}
		if !mapped {
			h.open(thread, int(thread.Fd()), "exe")
			mapped = h.maps(thread)
		}
		thread.Close()
	}
}

// sameTable tells whether two threads are known to have one table of descriptors. Who may not
// compare them, as in a container of Docker, knows it of none.
func sameTable(a, b int) bool {
	const files = 2 // KCMP_FILES, linux/kcmp.h
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), files, 0, 0, 0)
	return errno == 0 && order == 0
}

// descriptors looks at those of a thread, and tells whether that was all of them. A thread that has
// ended has none.
func (h *holders) descriptors(thread *os.File) (all bool) {
	dir, err := unix.Openat(int(thread.Fd()), "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		h.missed(thread, err)
		return false
	}
	defer unix.Close(dir)
	buf := make([]byte, 8<<10)
	for some := false; ; some = true {
		n, err := unix.ReadDirent(dir, buf)
		if n <= 0 {
			h.missed(thread, err)
			return some && err == nil
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if !h.spend(1) {
				return false
			}
			h.open(thread, dir, name)
		}
	}
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
	case kind == unix.S_IFSOCK && h.spend(2):
		_, inFlight, ok := bytes.Cut(readAt(thread, "fdinfo/"+name), []byte("scm_fds:"))
		if ok && !bytes.HasPrefix(bytes.TrimSpace(inFlight), []byte("0")) {
			h.sample.hides = true
		}
	case st.Nlink == 0 && (kind == unix.S_IFREG || kind == unix.S_IFDIR):
		var buf [unix.PathMax]byte
		n, err := unix.Readlinkat(dir, name, buf[:])
		if errors.Is(err, unix.ENAMETOOLONG) { // its directory is deeper than paths are long
			h.sample.hides = true
			return
		}
		if err != nil {
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
	for lines.Scan() && h.spend(1) {
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
