package guest

import (
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// figure is a number that may be unknown.
type figure struct {
	value int64
	known bool
}

// since is how much it has grown; one that was not known then has not.
func (f figure) since(before figure) int64 {
	if !f.known || !before.known {
		return 0
	}
	return max(0, f.value-before.value)
}

// counters are what control groups count of the whole container, init and all
// that ever ran in it.
type counters struct {
	cpuUser, cpuSystem figure // nanoseconds
	memory, memoryPeak figure // bytes
	processes          figure
	oomKills, denials  figure
	// What tells whether the group's own limit of memory was reached: version 2 counts that,
	// and version 1 has peaks, those of all processes that the group ever had.
	ownOOMs                          figure
	memoryLimit, swapPeak, swapLimit figure // bytes; swap and memory together
	ioRead, ioWritten                figure // bytes
	pageFaults                       figure
}

// groupFiles are the files in which a container sees its own control groups.
type groupFiles struct {
	version int // 0: none
	files   []groupFile
}

// ofOwnGroup are the files that tell a container's own group: the root of a
// hierarchy, which is the host's, has a memory.stat but none of these.
var ofOwnGroup = []string{"memory.current", "memory.usage_in_bytes", "pids.current"}

// groupFile is one file and how it is read.
type groupFile struct {
	name string
	read func(content string, c *counters)
}

// filesV2 are those of control groups, version 2 (cgroup-v2.rst of Linux).
var filesV2 = []groupFile{
	{"cpu.stat", func(s string, c *counters) {
		c.cpuUser, c.cpuSystem = scaled(field(s, "user_usec"), 1000), scaled(field(s, "system_usec"), 1000)
	}},
	{"memory.current", func(s string, c *counters) { c.memory = number(s) }},
	{"memory.peak", func(s string, c *counters) { c.memoryPeak = number(s) }},
	// oom is raised in the group whose limit it was and in those above it, and oom_kill in the
	// group of the killed and those above, whoever ran out.
	{"memory.events", func(s string, c *counters) { c.oomKills, c.ownOOMs = field(s, "oom_kill"), field(s, "oom") }},
	{"memory.stat", func(s string, c *counters) { c.pageFaults = field(s, "pgfault") }},
	{"pids.current", func(s string, c *counters) { c.processes = number(s) }},
	{"pids.events", func(s string, c *counters) { c.denials = field(s, "max") }},
	{"io.stat", func(s string, c *counters) { c.ioRead, c.ioWritten = sum(s, "rbytes="), sum(s, "wbytes=") }},
}

// filesV1 are those of version 1, below the directories of the controllers.
var filesV1 = []groupFile{
	{"cpuacct/cpuacct.usage_user", func(s string, c *counters) { c.cpuUser = number(s) }},
	{"cpuacct/cpuacct.usage_sys", func(s string, c *counters) { c.cpuSystem = number(s) }},
	{"memory/memory.memsw.usage_in_bytes", func(s string, c *counters) { c.memory = number(s) }},
	{"memory/memory.usage_in_bytes", func(s string, c *counters) { // where swap is not counted
		if !c.memory.known {
			c.memory = number(s)
		}
	}},
	{"memory/memory.max_usage_in_bytes", func(s string, c *counters) { c.memoryPeak = number(s) }},
	{"memory/memory.limit_in_bytes", func(s string, c *counters) { c.memoryLimit = number(s) }},
	{"memory/memory.memsw.max_usage_in_bytes", func(s string, c *counters) { c.swapPeak = number(s) }},
	{"memory/memory.memsw.limit_in_bytes", func(s string, c *counters) { c.swapLimit = number(s) }},
	{"memory/memory.oom_control", func(s string, c *counters) { c.oomKills = field(s, "oom_kill") }},
	{"memory/memory.stat", func(s string, c *counters) { c.pageFaults = field(s, "total_pgfault") }},
	{"pids/pids.current", func(s string, c *counters) { c.processes = number(s) }},
	{"pids/pids.events", func(s string, c *counters) { c.denials = field(s, "max") }},
}

// findGroups finds out which files there are. A container that sees a root group
// sees the host's and not its own.
func (c *Container) findGroups() groupFiles {
	for version, files := range map[int][]groupFile{2: filesV2, 1: filesV1} {
		var have []groupFile
		for _, f := range files {
			if _, err := c.readGroups([]string{f.name}); err == nil {
				have = append(have, f)
			}
		}
		for _, f := range have {
			if slices.Contains(ofOwnGroup, path.Base(f.name)) {
				return groupFiles{version, have}
			}
		}
	}
	return groupFiles{}
}

// groupFileSize is more than any of the files has; memory.stat is the largest.
const groupFileSize = 4 << 10

// readGroups reads files of the container's own control groups.
func (c *Container) readGroups(names []string) ([]string, error) {
	if c.opts.ReadGroups != nil {
		return c.opts.ReadGroups(names)
	}
	if c.opts.CgroupDir == "" {
		return nil, errors.New("the container sees no control groups")
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = path.Join(c.opts.CgroupDir, name)
	}
	return c.readFiles(paths)
}

// readFiles reads the beginnings of files with one message.
func (c *Container) readFiles(names []string) ([]string, error) {
	var p spawn.Program
	sizes, contents := make([]spawn.Arg, len(names)), make([]spawn.Arg, len(names))
	for i, name := range names {
		sizes[i], contents[i] = p.Answer(4), p.Answer(groupFileSize)
		fd := p.Call(stepOpen, c.calls.openat, spawn.FD(atFDCWD), p.String(name), spawn.Value(oRDONLY|oCLOEXEC), spawn.Value(0)).Save()
		p.Call(stepRead, c.calls.read, fd, contents[i], spawn.Value(groupFileSize)).SaveAt(sizes[i], 0)
		p.Call("close", c.calls.close, fd)
	}
	reply, err := c.init.Do(&p)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i := range names {
		size := min(binary.NativeEndian.Uint32(sizes[i].Of(reply, 4)), groupFileSize)
		out[i] = string(contents[i].Of(reply, int(size)))
	}
	return out, nil
}

// count reads the container's counters; false when there are none.
func (c *Container) count() (counters, bool) {
	if c.groups.version == 0 {
		return counters{}, false
	}
	names := make([]string, len(c.groups.files))
	for i, f := range c.groups.files {
		names[i] = f.name
	}
	contents, err := c.readGroups(names)
	if err != nil {
		return counters{}, false
	}
	var now counters
	for i, f := range c.groups.files {
		f.read(contents[i], &now)
	}
	return now, true
}

// ownLimit tells whether the group's own limit of memory was reached since before, when that
// limit was the same. Where an earlier process has had as much, it may have been its doing:
// then nobody knows, as where a figure is missing.
func (c counters) ownLimit(before counters, pageBytes int64) (reached, known bool) {
	if c.ownOOMs.known && before.ownOOMs.known {
		return c.ownOOMs.since(before.ownOOMs) > 0, true
	}
	if !c.memoryPeak.known || !before.memoryLimit.known || c.swapPeak.known != before.swapLimit.known {
		return false, false
	}
	return cgroup.AtLimit(c.memoryPeak.value, before.memoryLimit.value, pageBytes) ||
		cgroup.AtLimit(c.swapPeak.value, before.swapLimit.value, pageBytes), true
}

// maxCount bounds what a file may say, so that no figure overflows in another unit.
const maxCount = 1 << 60

func number(s string) figure {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 || n > maxCount {
		return figure{}
	}
	return figure{n, true}
}

// field is the number behind a name at the beginning of a line.
func field(s, name string) figure {
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return number(rest)
		}
	}
	return figure{}
}

// sum adds the numbers behind a prefix of any word.
func sum(s, prefix string) figure {
	total := figure{0, true}
	for word := range strings.FieldsSeq(s) {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			n := number(rest)
			total.value = min(total.value+n.value, maxCount)
		}
	}
	return total
}

func scaled(f figure, by int64) figure {
	f.value = min(f.value, maxCount/by) * by
	return f
}

// metrics are the figures of a process: what the container's groups have counted
// since it began, and where they do not count, what the kernel tells of the main
// process once it has ended.
func (pr *process) metrics(now counters, known bool, usage *spawn.Usage) sandbox.Metrics {
	m := sandbox.Metrics{Sources: map[string]string{}}
	if usage != nil {
		FromUsage(&m, *usage)
	}
	if !known {
		return m
	}
	source := "cgroup" + strconv.Itoa(pr.c.groups.version)
	set := func(to **int64, before, after figure, names ...string) {
		if after.known && before.known {
			value := after.since(before)
			*to = &value
			for _, name := range names {
				m.Sources[name] = source
			}
		}
	}
	b := pr.before
	if now.cpuUser.known && now.cpuSystem.known && b.cpuUser.known && b.cpuSystem.known {
		user, system := time.Duration(now.cpuUser.since(b.cpuUser)), time.Duration(now.cpuSystem.since(b.cpuSystem))
		m.CPUUser, m.CPUSystem = &user, &system
		for _, name := range []string{"cpu_time_s", "cpu_user_s", "cpu_system_s"} {
			m.Sources[name] = source
		}
	}
	set(&m.IOReadBytes, b.ioRead, now.ioRead, "io_read_bytes")
	set(&m.IOWriteBytes, b.ioWritten, now.ioWritten, "io_write_bytes")
	set(&m.PageFaults, b.pageFaults, now.pageFaults, "page_faults")
	set(&m.MemoryBytes, figure{0, true}, now.memory)
	set(&m.Processes, figure{1, true}, now.processes) // without init
	pr.peaks(&m, now, source)
	return m
}

// peaks fills in the most that was in use. The group's own peak is that of the
// whole container: it is this process's when it has grown since this began, and
// otherwise what was seen.
func (pr *process) peaks(m *sandbox.Metrics, now counters, source string) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	pr.peak, pr.most = max(pr.peak, now.memory.value), max(pr.most, now.processes.value-1)
	if now.processes.known {
		most := max(pr.most, 1)
		m.ProcessesPeak = &most
		m.Sources["processes_peak"] = "runtime"
	}
	if !now.memory.known {
		return
	}
	// What was in use before, such as the files that a compiler has made, is not
	// this process's.
	already := pr.before.memory.value
	peak, from := max(0, pr.peak-already), "runtime"
	if now.memoryPeak.since(pr.before.memoryPeak) > 0 {
		peak, from = max(0, now.memoryPeak.value-already), source
	} else if m.MemoryPeakBytes != nil && *m.MemoryPeakBytes >= peak {
		peak, from = *m.MemoryPeakBytes, "rusage"
	}
	m.MemoryPeakBytes = &peak
	m.Sources["memory_peak_bytes"] = from
}

// FromUsage fills in what the kernel knows of the main process and the children
// that it waited for. Of memory it knows the largest process, which is a lower bound.
func FromUsage(m *sandbox.Metrics, u spawn.Usage) {
	faults, switches := u.MinorFaults+u.MajorFaults, u.VoluntarySwitches+u.Switches
	read, written := u.InBlocks*512, u.OutBlocks*512
	m.CPUUser, m.CPUSystem = &u.User, &u.System
	m.MemoryPeakBytes = &u.MaxRSSBytes
	m.PageFaults, m.ContextSwitches = &faults, &switches
	m.IOReadBytes, m.IOWriteBytes = &read, &written
	for _, name := range []string{"cpu_time_s", "cpu_user_s", "cpu_system_s", "memory_peak_bytes", "page_faults", "context_switches", "io_read_bytes", "io_write_bytes"} {
		m.Sources[name] = "rusage"
	}
}
