package local

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// span is a part of a process's memory, in whole pages.
type span struct {
	at, size uint64
	page
}

// page is what is known of one: it may be of a private mapping of a file, and is only read or written to.
type page struct{ ofFile, read bool }

// Bounds of what an ancestor learns, which is a hint: some 3 MiB are written to, in some hundred spans.
const maxSpans, maxForeseen = 512, 16 << 20

// Rehearse implements [sandbox.Rehearsing]. A forked process shares its memory with its ancestor,
// and each page that it writes to is copied when it does, by a fault; of files it has no page at first.
// Which these are hardly depends on the program: most are the interpreter's own, at its end. So a child that
// nobody is waiting for is stopped when it ends, and the pages that it has by then are those that later
// children have before their work. What gives memory back when it ends may say before that it is
// to be looked at (SIGALRM, which it does not get then).
func (a *ancestor) Rehearse(child sandbox.Running, begin func()) error {
	pr, ours := child.(*process)
	if !ours {
		return errors.New("no child of an ancestor's")
	}
	pid, err := pr.onlyPID()
	if err != nil {
		return fmt.Errorf("a child of an ancestor: %w", err)
	}
	has, err := footprintAtEnd(pid, a.pid, begin)
	if errors.Is(err, unix.EPERM) {
		return nil // here nobody may look on (kernel.yama.ptrace_scope)
	}
	if err != nil {
		return fmt.Errorf("rehearse: %w", err)
	}
	written, read := has.spans()
	if sum := bytesOf(written); sum == 0 || sum > maxForeseen || len(written) > maxSpans || len(read) > maxSpans {
		return fmt.Errorf("rehearse: %d KiB in %d places are the process's own, and what it reads is in %d", sum>>10, len(written), len(read))
	}
	if rest := slices.Concat(a.pin(written), read); len(rest) > 0 {
		a.foreseen.Store(&rest)
	}
	fault.Point("ancestor has rehearsed")
	return nil
}

func bytesOf(spans []span) (sum uint64) {
	for _, s := range spans {
		sum += s.size
	}
	return sum
}

// pin has the kernel copy the pages that each child will write to when it forks, which takes half
// of what it takes behind the fork: pages that a device may write to are never shared (Linux 5.9).
// What is copied so is charged to the ancestor, and counted to each child as carried. The rest it
// gives back: all of it where the host allows no rings (kernel.io_uring_disabled, a container
// engine's filter) or not so much locked memory, and what maps a file on some kernels (6.1).
func (a *ancestor) pin(spans []span) (rest []span) {
	var nameless, files []span
	for _, s := range spans {
		if s.ofFile {
			files = append(files, s)
		} else {
			nameless = append(nameless, s)
		}
	}
	switch {
	case a.register(spans) == nil:
		return nil
	case a.register(nameless) == nil:
		return files
	}
	return spans
}

// pinningEntries is how many entries a ring has that nobody uses.
const pinningEntries = 1

// register makes memory the buffers of a ring that nobody uses. Children close it before they are
// anybody's.
func (a *ancestor) register(spans []span) error {
	const registerBuffers, paramsBytes = 0, 120 // IORING_REGISTER_BUFFERS, struct io_uring_params
	var buffers []byte                          // struct iovec of each
	var sum uint64
	for _, s := range spans {
		buffers = binary.NativeEndian.AppendUint64(buffers, s.at)
		buffers = binary.NativeEndian.AppendUint64(buffers, s.size)
		sum += s.size
	}
	var p spawn.Program
	ring := p.Call("io_uring_setup", unix.SYS_IO_URING_SETUP, spawn.Value(pinningEntries), p.Bytes(make([]byte, paramsBytes))).Save()
	p.Call("io_uring_register", unix.SYS_IO_URING_REGISTER, ring, spawn.Value(registerBuffers), p.Bytes(buffers), spawn.Value(len(spans)))
	if _, err := a.server.Do(&p); err != nil {
		return err
	}
	if a.group.held.memory {
		a.carried.Store(int64(sum))
	}
	return nil
}

// foresee appends what has the kernel copy the pages that a process will write to, where they are
// not pinned, and if there is time for that map those that it will read, which takes longer for all of
// them than for each when it is read: the kernel looks at every page. It is as good without: before
// Linux 5.14 there is none.
func (a *ancestor) foresee(p *spawn.Program, calm bool) {
	foreseen := a.foreseen.Load()
	if foreseen == nil {
		return
	}
	for _, s := range *foreseen {
		advice := unix.MADV_POPULATE_WRITE
		if s.read {
			advice = unix.MADV_POPULATE_READ
			if !calm {
				continue
			}
		}
		p.Call("have pages", unix.SYS_MADVISE, spawn.Value(s.at), spawn.Value(s.size), spawn.Value(advice)).AllowAny()
	}
}

// footprintAtEnd follows a process to its end, which begin is called to lead to, and gives the
// pages that it has on its way and then.
func footprintAtEnd(pid, ancestor int, begin func()) (has footprint, err error) {
	has = footprint{}
	runtime.LockOSThread() // who traces is a thread
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(pid); err != nil {
		return nil, err
	}
	// A call that fails has met a process that was killed, which the next wait tells.
	_ = unix.PtraceInterrupt(pid)
	for began := false; ; {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		signal := 0
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case !status.Stopped():
			return nil, errors.New("it has ended, and nobody saw how")
		case status.TrapCause() == unix.PTRACE_EVENT_EXIT:
			err := has.look(pid, ancestor)
			_ = unix.PtraceDetach(pid)
			return has, err
		case !began:
			began = true
			_ = unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXIT)
			begin()
		case status.StopSignal() == unix.SIGALRM:
			if err := has.look(pid, ancestor); err != nil {
				_ = unix.PtraceDetach(pid)
				return nil, err
			}
		case status.StopSignal() != unix.SIGTRAP:
			signal = int(status.StopSignal())
		}
		_ = unix.PtraceCont(pid, signal)
	}
}

// footprint are pages that a process has where its ancestor has mapped something private, by their
// address: those that no other process has, and those of files.
type footprint map[uint64]page

// look adds what there is now.
func (f footprint) look(pid, ancestor int) error {
	// A word for each page (Documentation/admin-guide/mm/pagemap.rst).
	const present, ofFile, exclusive, wordBytes = 1 << 63, 1 << 61, 1 << 56, 8
	pages, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return err
	}
	defer pages.Close()
	mapped, err := os.Open(fmt.Sprintf("/proc/%d/maps", ancestor))
	if err != nil {
		return err
	}
	defer mapped.Close()
	pageBytes := uint64(os.Getpagesize())
	for lines := bufio.NewScanner(mapped); lines.Scan(); {
		var from, to, offset, inode uint64
		var mode, device string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x %s %d", &from, &to, &mode, &offset, &device, &inode); n != 6 || mode[0] != 'r' || mode[3] != 'p' {
			continue
		}
		writable := mode[1] == 'w'
		if !writable && inode == 0 {
			continue
		}
		words := make([]byte, (to-from)/pageBytes*wordBytes)
		n, _ := pages.ReadAt(words, int64(from/pageBytes*wordBytes)) // what is not there any more has no words
		for at := from; len(words[:n]) >= wordBytes; at, words, n = at+pageBytes, words[wordBytes:], n-wordBytes {
			switch word := binary.NativeEndian.Uint64(words); {
			case word&present == 0:
			case writable && word&ofFile == 0 && word&exclusive != 0:
				f[at] = page{ofFile: inode != 0}
			case !writable && word&ofFile != 0:
				f[at] = page{ofFile: true, read: true}
			}
		}
	}
	return nil
}

// spans are those pages that are written to, and those that are only read, in order.
func (f footprint) spans() (written, read []span) {
	pageBytes := uint64(os.Getpagesize())
	for _, at := range slices.Sorted(maps.Keys(f)) {
		list := &written
		if f[at].read {
			list = &read
		}
		if last := len(*list) - 1; last >= 0 && (*list)[last].at+(*list)[last].size == at && (*list)[last].page == f[at] {
			(*list)[last].size += pageBytes
		} else {
			*list = append(*list, span{at, pageBytes, f[at]})
		}
	}
	return slices.Clip(written), slices.Clip(read)
}
