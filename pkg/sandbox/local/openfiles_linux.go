package local

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// openFiles are the descriptors that an interpreter has opened for itself by the time it waits, beside
// its streams: by which its threads wake each other, mostly. A child that is forked has the same files
// behind them as all its siblings, and would wake theirs, so each is made its own.
type openFiles struct {
	numbers  []int // of all of them and of the ancestor's socket, in order
	nulls    []openFile
	counters []openFile // eventfd(2)
	pipes    []ownPipe
	watches  []openFile // epoll(7)
}

// openFile is a descriptor as /proc tells of it (proc_pid_fdinfo(5)).
type openFile struct {
	fd, flags int
	count     uint64     // of a counter
	semaphore int        // 1 where a counter is one, as far as the kernel tells (not Linux 6.1); no interpreter has such
	watched   []watching // by a watch
}

// watching is what a watch has been told of a descriptor.
type watching struct {
	fd     int
	events uint32
	data   uint64 // which it gives back
}

// ownPipe is one whose both ends the interpreter has, and what is in it.
type ownPipe struct {
	ends    [2]openFile // to read, to write
	content []byte
}

// numbered gives the names in a directory that are numbers which are wanted, in order.
func numbered(dir string, want func(int) bool) (numbers []int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && want(n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// filesOf looks at the descriptors of an ancestor that nothing changes any more. One of a
// kind that nobody could make for a child is an error.
func filesOf(pid int) (in openFiles, err error) {
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	in.numbers, err = numbered(fds, func(fd int) bool { return fd > 2 })
	if err != nil {
		return in, err
	}
	pipes := map[string][]openFile{}
	var watched []int
	for _, fd := range in.numbers {
		if fd == spawn.AncestorFD {
			continue
		}
		name, err := os.Readlink(filepath.Join(fds, strconv.Itoa(fd)))
		if err != nil {
			return in, err
		}
		info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, fd))
		if err != nil {
			return in, err
		}
		o, err := readOpenFile(fd, info)
		switch kind, _, _ := strings.Cut(name, ":"); {
		case err != nil:
			return in, fmt.Errorf("descriptor %d of an ancestor: %w", fd, err)
		case fd > spawn.AncestorFD:
			return in, fmt.Errorf("%w of an interpreter that has descriptor %d open", sandbox.ErrNoAncestor, fd)
		case name == os.DevNull:
			in.nulls = append(in.nulls, o)
		case name == "anon_inode:[eventfd]":
			in.counters = append(in.counters, o)
		case name == "anon_inode:[eventpoll]":
			in.watches = append(in.watches, o)
			for _, w := range o.watched {
				watched = append(watched, w.fd)
			}
		case kind == "pipe":
			pipes[name] = append(pipes[name], o)
		default:
			return in, fmt.Errorf("%w of an interpreter that has %s open", sandbox.ErrNoAncestor, name)
		}
	}
	for name, ends := range pipes {
		pipe, err := readPipe(fds, ends)
		if err != nil {
			return in, fmt.Errorf("%s of an ancestor: %w", name, err)
		}
		in.pipes = append(in.pipes, pipe)
	}
	watchable := slices.Clone(in.counters)
	for _, pipe := range in.pipes {
		watchable = append(watchable, pipe.ends[:]...)
	}
	for _, fd := range watched {
		if !slices.ContainsFunc(watchable, func(o openFile) bool { return o.fd == fd }) {
			return in, fmt.Errorf("%w of an interpreter that watches descriptor %d", sandbox.ErrNoAncestor, fd)
		}
	}
	return in, nil
}

// readOpenFile reads what the kernel tells of a descriptor.
func readOpenFile(fd int, info []byte) (o openFile, err error) {
	o.fd = fd
	for line := range strings.Lines(string(info)) {
		var flags uint64
		var w watching
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); name {
		case "flags":
			flags, err = strconv.ParseUint(value, 8, 31)
			o.flags = int(flags)
		case "eventfd-count":
			o.count, err = strconv.ParseUint(value, 16, 32)
		case "eventfd-semaphore":
			o.semaphore, err = strconv.Atoi(value)
		case "tfd":
			_, err = fmt.Sscanf(line, "tfd: %d events: %x data: %x", &w.fd, &w.events, &w.data)
			o.watched = append(o.watched, w)
		}
		if err != nil {
			return o, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
	}
	return o, nil
}

// readPipe finds the ends of a pipe, and takes what is in it.
func readPipe(fds string, ends []openFile) (p ownPipe, err error) {
	writes := func(o openFile) bool { return o.flags&unix.O_ACCMODE == unix.O_WRONLY }
	if len(ends) != 2 || writes(ends[0]) == writes(ends[1]) || ends[0].flags&^unix.O_ACCMODE != ends[1].flags&^unix.O_ACCMODE {
		return p, fmt.Errorf("%w: it has not both ends, once each and alike", sandbox.ErrNoAncestor)
	}
	if writes(ends[0]) {
		slices.Reverse(ends)
	}
	p.ends = [2]openFile(ends)
	fd, err := unix.Open(filepath.Join(fds, strconv.Itoa(ends[0].fd)), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return p, err
	}
	defer unix.Close(fd)
	content := make([]byte, unix.PathMax)
	n, err := unix.Read(fd, content)
	switch {
	case err == unix.EAGAIN:
		return p, nil
	case err != nil:
		return p, err
	case n == len(content):
		return p, fmt.Errorf("%w: %d bytes are in it", sandbox.ErrNoAncestor, n)
	}
	p.content = bytes.Clone(content[:n])
	return p, nil
}

// renew appends what has a child close all but these descriptors, its streams and its socket, and gives
// it files of its own in the place of those that it has in common with its ancestor. These are
// the program's user's, so all that stands around it is in force, its limit of descriptors too.
func (in openFiles) renew(p *spawn.Program) {
	from := 3
	for _, fd := range in.numbers {
		if from < fd {
			p.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(from), spawn.Value(fd-1), spawn.Value(0))
		}
		from = fd + 1
	}
	p.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(from), spawn.Value(uint32(math.MaxUint32)), spawn.Value(0))
	const kept = unix.O_NONBLOCK | unix.O_CLOEXEC
	put := func(made spawn.Arg, o openFile) {
		p.Call("dup3", unix.SYS_DUP3, made, spawn.FD(o.fd), spawn.Value(o.flags&unix.O_CLOEXEC))
		p.Call("close", unix.SYS_CLOSE, made)
	}
	for _, o := range in.nulls {
		put(p.Call("open "+os.DevNull, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(os.DevNull), spawn.Value(o.flags)).Save(), o)
	}
	for _, o := range in.counters {
		put(p.Call("eventfd2", unix.SYS_EVENTFD2, spawn.Value(o.count), spawn.Value(o.flags&kept|o.semaphore)).Save(), o)
	}
	for _, pipe := range in.pipes {
		ends := p.Bytes(make([]byte, 8))
		p.Call("pipe2", unix.SYS_PIPE2, ends, spawn.Value(pipe.ends[0].flags&kept))
		if len(pipe.content) > 0 {
			p.Call("write to a pipe", unix.SYS_WRITE, p.Cell(ends, 4), p.Bytes(pipe.content), spawn.Value(len(pipe.content)))
		}
		for i, o := range pipe.ends {
			put(p.Cell(ends, 4*i), o)
		}
	}
	for _, o := range in.watches {
		made := p.Call("epoll_create1", unix.SYS_EPOLL_CREATE1, spawn.Value(o.flags&unix.O_CLOEXEC)).Save()
		for _, w := range o.watched {
			event, _ := binary.Append(nil, binary.NativeEndian, unix.EpollEvent{Events: w.events, Fd: int32(uint32(w.data)), Pad: int32(w.data >> 32)})
			p.Call("epoll_ctl", unix.SYS_EPOLL_CTL, made, spawn.Value(unix.EPOLL_CTL_ADD), spawn.FD(w.fd), p.Bytes(event))
		}
		put(made, o)
	}
}
