package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// statBuffer holds the longest file that is read, memory.stat.
const statBuffer = 8 << 10

// Stats reads the figures of the group as they are now. A figure that this
// kernel does not have is unknown. It is an error when the group is gone, and when a
// figure is there and cannot be read: whoever takes it for 0 says that no limit was
// reached.
func (g *Group) Stats() (Stats, error) { return g.stats(reader{group: g}) }

// Used reads of the figures of the group the CPU time and the memory alone, which is a quarter of the work.
func (g *Group) Used() (Stats, error) { return g.stats(reader{group: g, brief: true}) }

// PrepareStats opens what [Group.Stats] reads, so that it takes a third of the time when somebody
// waits for it: the kernel finds a file of a group in several times what it takes to read it. Some
// ten descriptors stay open until [Group.CloseStats] or [Group.Delete]. It does so once: what could not be
// opened then is opened when it is read.
func (g *Group) PrepareStats() { _, _ = g.stats(reader{group: g, opens: true}) }

func (g *Group) stats(r reader) (Stats, error) {
	g.figures.Lock()
	defer g.figures.Unlock()
	if r.opens {
		if g.kept != nil { // it has been called before
			return Stats{}, nil
		}
		g.kept = make(map[groupFile]int)
	}
	var s Stats
	for _, t := range g.h.trees {
		if r.brief && !t.has(CPUAccounting) && !t.has(Memory) {
			continue
		}
		r.t, r.there = t, false
		if t.version == 2 {
			r.source = Version2
			r.unified(&s)
		} else {
			r.source = Version1
			r.legacy(&s, g.limits)
		}
		if r.there {
			continue
		}
		if err := t.base.access(t.path(g)); err != nil {
			return Stats{}, err
		}
	}
	if r.failed != nil {
		return Stats{}, fmt.Errorf("cannot tell what the limits of a control group have stopped: %w", r.failed)
	}
	return s, nil
}

// Tasks is how many processes and threads are in the group now, some that are dead and not reaped among
// them.
func (g *Group) Tasks() (n int64, known bool) {
	t := g.h.treeOf(PIDs)
	if t == nil {
		return 0, false
	}
	g.figures.Lock()
	defer g.figures.Unlock()
	r := reader{t: t, group: g, source: Version1}
	f := r.number("pids.current")
	return f.Value, f.Known()
}

// MemoryUse is what is charged to the group now; its figures are zero where they cannot be had.
func (g *Group) MemoryUse() (u MemoryUse) {
	t := g.h.treeOf(Memory)
	if t == nil {
		return u
	}
	g.figures.Lock()
	defer g.figures.Unlock()
	r, file := reader{t: t, group: g, source: Version1}, "memory.usage_in_bytes"
	if t.version == 2 {
		r.source, file = Version2, "memory.current"
	}
	charged, stat := r.number(file).Value, r.load("memory.stat")
	u.Cache = r.key(stat, "active_file").Value + r.key(stat, "inactive_file").Value
	u.Program = max(charged-u.Cache, 0)
	u.Refaults = r.key(stat, "workingset_refault_file").Value
	u.MajorFaults = r.key(stat, "pgmajfault").Value
	return u
}

// reader reads the files of one group in one tree.
type reader struct {
	t      *tree
	group  *Group
	source Source
	opens  bool // files, and reads none
	brief  bool // see Group.Used
	buf    [statBuffer]byte
	there  bool  // a file of the tree was read
	failed error // to read what is there
}

// load reads a file; a file that is not there, or not in this group, reads as empty.
func (r *reader) load(name string) []byte {
	data, err := r.read(name)
	if err != nil {
		if ignoreGone(err) != nil && !errors.Is(err, errors.ErrUnsupported) {
			r.failed = cmp.Or(r.failed, err)
		}
		return nil
	}
	r.there = true
	return data
}

// read reads a file, which may be open, or opens it. What cannot be opened, Stats tells.
func (r *reader) read(name string) ([]byte, error) {
	g, file := r.group, groupFile{r.t, r.t.file(r.group, name)}
	fd, open := g.kept[file]
	switch {
	case open && !r.opens:
		return r.t.base.readOpen(fd, file.path, r.buf[:])
	case !r.opens:
		return r.t.base.read(file.path, r.buf[:])
	case !open && !g.told:
		if fd, err := r.t.base.openToRead(file.path); err == nil {
			g.kept[file] = fd
		}
	}
	return nil, nil
}

// CloseStats closes what [Group.PrepareStats] has opened, and keeps it from more: the last figures
// have been read.
func (g *Group) CloseStats() {
	g.figures.Lock()
	defer g.figures.Unlock()
	for _, fd := range g.kept {
		unix.Close(fd)
	}
	g.kept, g.told = nil, true
}

// number is a file that holds one number.
func (r *reader) number(name string) Figure {
	n, ok := parseNumber(r.load(name))
	return r.figure(n, ok)
}

// key is a number in data that holds lines "key number".
func (r *reader) key(data []byte, key string) Figure {
	n, ok := keyed(data, key)
	return r.figure(n, ok)
}

func (r *reader) figure(n int64, ok bool) Figure {
	if !ok {
		return Figure{}
	}
	return Figure{n, r.source}
}

// scaled multiplies a known figure.
func scaled(f Figure, by time.Duration) Figure {
	if f.Value > math.MaxInt64/int64(by) {
		return Figure{}
	}
	return Figure{f.Value * int64(by), f.Source}
}

func (r *reader) unified(s *Stats) {
	if r.t.has(CPUAccounting) {
		stat := r.load("cpu.stat")
		s.CPUUser = scaled(r.key(stat, "user_usec"), time.Microsecond)
		s.CPUSystem = scaled(r.key(stat, "system_usec"), time.Microsecond)
	}
	if r.t.has(Memory) {
		s.MemoryBytes = r.number("memory.current")
	}
	if r.brief {
		return
	}
	if r.t.has(Memory) {
		s.MemoryPeakBytes = r.number("memory.peak")
		s.PageFaults = r.key(r.load("memory.stat"), "pgfault")
		events := r.load("memory.events")
		s.OOMKills = r.key(events, "oom_kill")
		// Raised in the group whose limit it was, and in those above it: not
		// here when the host or a group above ran out.
		s.MemoryAtLimit = r.key(events, "oom").Value > 0
	}
	r.processes(s)
	if r.t.has(IO) {
		r.io(s, "io.stat")
	}
}

func (r *reader) legacy(s *Stats, l Limits) {
	if r.t.has(CPUAccounting) {
		s.CPUUser = r.number("cpuacct.usage_user")
		s.CPUSystem = r.number("cpuacct.usage_sys")
	}
	if r.t.has(Memory) {
		s.MemoryBytes = r.number("memory.usage_in_bytes")
	}
	if r.brief {
		return
	}
	if r.t.has(Memory) {
		s.MemoryPeakBytes = r.number("memory.max_usage_in_bytes")
		s.PageFaults = r.key(r.load("memory.stat"), "pgfault")
		s.OOMKills = r.key(r.load("memory.oom_control"), "oom_kill")
		atLimit := func(peak Figure) bool { return AtLimit(peak.Value, l.MemoryBytes, int64(os.Getpagesize())) }
		s.MemoryAtLimit = atLimit(s.MemoryPeakBytes)
		if s.OOMKills.Value > 0 && !s.MemoryAtLimit { // what was swapped out is within the limit, too
			s.MemoryAtLimit = atLimit(r.number("memory.memsw.max_usage_in_bytes"))
		}
	}
	r.processes(s)
	if r.t.has(IO) {
		r.io(s, "blkio.throttle.io_service_bytes")
	}
}

// processes reads the pids controller, which is the same in both versions.
func (r *reader) processes(s *Stats) {
	if r.t.has(PIDs) {
		s.Processes = r.number("pids.current")
		s.ProcessesPeak = r.number("pids.peak")
		s.ProcessesDenied = r.key(r.load("pids.events"), "max")
	}
}

// io adds up a file of transfers by device. It is empty while there were none,
// so that only a file that cannot be read is unknown.
func (r *reader) io(s *Stats, name string) {
	data, err := r.read(name)
	var read, written int64
	if r.t.version == 2 {
		read, written = ioBytes(data)
	} else {
		read, written = blkioBytes(data)
	}
	r.there = r.there || err == nil
	s.IOReadBytes, s.IOWriteBytes = r.figure(read, err == nil), r.figure(written, err == nil)
}
