package local

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// sampler watches what no control group counts of the memory of a process tree: all of
// it, or the buffers of TCP sockets. It is late by design: with a sample every 5 ms
// eight processes that allocate as fast as they can were seen 48 MiB past a limit of
// 256 MiB. Where a control group counts, it watches for [thrashing] beside that.
type sampler struct {
	group *group   // whose memory the kernel counts, or nil
	proc  *os.File // a /proc, for a tree without such a group
	// pids lists the programs of the tree, as proc numbers them; an error says that there are more.
	pids   func() ([]int, error)
	list   sync.Mutex    // held while pids reads the directory
	tcp    *tcpMemory    // nil where it is not for us to count
	every  time.Duration // between samples
	thrash thrashing     // of group
	// ownProc is a /proc that the sampler has opened.
	ownProc bool
	limit   int64
	kill    func()
	quit    chan struct{}
	ended   sync.WaitGroup

	peakBytes, peakProcesses int64
	killed                   bool
	blind                    int   // samples in a row in which nothing could be read
	err                      error // why the tree was ended without being over its limit
}

// maxBlind is how many samples in a row may read nothing, as when descriptors are short, or not
// all, before a tree that has a limit is ended: nothing would hold it.
const maxBlind = 10

const (
	sampleEvery        = 5 * time.Millisecond
	sampleEveryOutside = 20 * time.Millisecond // finding the tree costs more
)

// newSampler starts a sampler where something of the process's memory is left to it,
// and returns nil elsewhere.
func (pr *process) newSampler(limit int64, awake <-chan struct{}) *sampler {
	c := pr.c
	s := &sampler{every: sampleEvery, limit: limit, kill: pr.killOnce, quit: make(chan struct{})}
	if c.tcp != nil && pr.policy.Mode != sandbox.NetworkNone && c.rt.tcpWarning(c.tcp) == "" {
		s.tcp = &tcpMemory{socket: c.tcp.socket, stats: c.tcp.stats} // nothing of the process before
	}
	switch {
	case pr.group.held.memory && limit == 0:
		return nil
	case pr.group.held.memory && s.tcp == nil:
		s.group, s.every = pr.group, thrashEvery
	case pr.group.held.memory:
		s.group, s.every = pr.group, tcpEvery
	case c.proc != nil: // the container's own, which holds its processes and nothing else
		s.proc = c.proc
		s.pids = func() ([]int, error) { return inside(s.proc), nil }
	default:
		s.every, s.ownProc = sampleEveryOutside, true
		s.pids = func() ([]int, error) { return descendants(c.init.PID) }
		var err error
		if s.proc, err = os.Open("/proc"); err != nil {
			pr.unwatched = fmt.Errorf("watch the program's memory: %w", err)
			pr.killOnce() // nothing would hold its limit
			return nil
		}
	}
	s.ended.Go(func() {
		if awake != nil {
			select {
			case <-awake:
			case <-s.quit:
			}
		}
		s.run()
	})
	return s
}

func (s *sampler) run() {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	// A program that ends soon does not thrash.
	for look := s.group == nil || s.tcp != nil; ; look = true {
		if look {
			s.sample()
		}
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
	}
}

func (s *sampler) sample() {
	total, processes, why := s.bytes()
	for looks := 0; s.limit > 0 && total > s.limit && s.group == nil && looks < sureLooks; looks++ {
		total = s.ownBytes()
	}
	if s.limit > 0 {
		held, unknown := s.tcp.bytes(s.limit - total)
		if total += held; unknown != nil {
			s.fail(unknown)
		}
	}
	s.peakBytes = max(s.peakBytes, total)
	s.peakProcesses = max(s.peakProcesses, processes)
	if s.limit > 0 && (total > s.limit || s.thrash.sure()) && !s.killed && !fault.Off("sampler", "memory") {
		s.killed = true
		s.kill()
	}
	if why == nil && total == 0 {
		why = s.unreadable()
	}
	if s.blind++; why == nil {
		s.blind = 0
	}
	if s.limit > 0 && s.blind == maxBlind {
		s.fail(why)
	}
}

// fail ends what cannot be watched.
func (s *sampler) fail(why error) {
	if s.err == nil {
		s.err = fmt.Errorf("watch the program's memory: %w", why)
		s.kill()
	}
}

// unreadable tells why a sample may have found nothing, where it is not that nothing of the
// tree is left.
func (s *sampler) unreadable() error {
	if s.group != nil {
		return nil // the kernel holds the limit
	}
	fd, err := unix.Openat(int(s.proc.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// bytes is the memory of the tree as far as it is told easily, and how many processes
// it has, where the kernel does not count them. An error says that it has more.
func (s *sampler) bytes() (total, processes int64, more error) {
	if s.group != nil {
		use := s.group.cg.MemoryUse()
		s.thrash.look(use, s.limit, time.Now())
		return min(use.Program, s.limit), 0, nil // more is the kernel's own, for a moment
	}
	pids, more := s.tree()
	total, processes = residentBytes(s.proc, pids)
	return total, processes, more
}

// sureLooks is how often memory must be seen above its limit: a child that executes its
// program between two reads of one look is counted with what it had only borrowed. A disk is
// looked at as often where that fails.
const sureLooks = 5

// ownBytes looks again, and leaves out what is only borrowed.
func (s *sampler) ownBytes() int64 {
	pids, _ := s.tree()
	total, _ := residentBytes(s.proc, pids)
	return total - borrowedBytes(s.proc, pids)
}

// tree lists the programs. It may be called from several goroutines: a directory
// has one position.
func (s *sampler) tree() ([]int, error) {
	s.list.Lock()
	defer s.list.Unlock()
	return s.pids()
}

// inside lists the processes of a container's own /proc but its init.
func inside(proc *os.File) (pids []int) {
	if _, err := proc.Seek(0, 0); err != nil {
		return nil
	}
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// residentBytes sums the resident memory of processes and counts those that are
// there. Shared pages count once for each, so the sum is an upper bound.
func residentBytes(proc *os.File, pids []int) (total, processes int64) {
	for _, pid := range pids {
		pages, there := residentPages(proc, strconv.Itoa(pid))
		if !there {
			continue
		}
		if pages == 0 {
			pages = residentInThreads(proc, pid)
		}
		total += pages * int64(os.Getpagesize())
		processes++
	}
	return total, processes
}

// borrowedBytes is the memory of children that vfork(2) has made, as every runtime
// does to start a program: until they execute it, what they have is their parent's,
// which waits for them. It believes each parent one child, and no child that is such a parent
// itself, so that a program that makes this up has its memory counted by half at most, and asks
// each once, which may have as many threads as it has children.
func borrowedBytes(proc *os.File, pids []int) (total int64) {
	borrowers := map[int64]string{} // by who lends
	for _, pid := range pids {
		name := strconv.Itoa(pid)
		parent := statFields(readAt(proc, name+"/stat"), 4, 1)
		if parent == nil {
			continue
		}
		if _, asked := borrowers[parent[0]]; asked {
			continue
		}
		lender, own := strconv.FormatInt(parent[0], 10), readAt(proc, name+"/statm")
		if len(own) == 0 || !bytes.Equal(own, readAt(proc, lender+"/statm")) {
			continue
		}
		borrowers[parent[0]] = ""
		if waits(proc, lender) {
			borrowers[parent[0]] = name
		}
	}
	for _, name := range borrowers {
		pid, err := strconv.ParseInt(name, 10, 64)
		if err != nil || borrowers[pid] != "" {
			continue
		}
		pages, _ := residentPages(proc, name)
		total += pages * int64(os.Getpagesize())
	}
	return total
}

// waits tells whether a thread of a process is in a system call that only SIGKILL
// ends.
func waits(proc *os.File, pid string) bool {
	return slices.ContainsFunc(threads(proc, pid), func(thread string) bool {
		stat := readAt(proc, thread+"/stat")
		_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		return bytes.HasPrefix(state, []byte("D"))
	})
}

// residentPages is the second field of statm, of a process or a thread.
func residentPages(proc *os.File, name string) (pages int64, there bool) {
	fields := bytes.Fields(readAt(proc, name+"/statm"))
	if len(fields) < 2 {
		return 0, false
	}
	pages, _ = strconv.ParseInt(string(fields[1]), 10, 64)
	return pages, true
}

// residentInThreads is for a process whose first thread has ended and left its
// memory to the others.
func residentInThreads(proc *os.File, pid int) int64 {
	for _, thread := range threads(proc, strconv.Itoa(pid)) {
		if pages, _ := residentPages(proc, thread); pages > 0 {
			return pages
		}
	}
	return 0
}

// threads are the directories of a process's threads.
func threads(proc *os.File, pid string) []string {
	tasks := pid + "/task"
	fd, err := unix.Openat(int(proc.Fd()), tasks, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	dir := os.NewFile(uintptr(fd), tasks)
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for i := range names {
		names[i] = tasks + "/" + names[i]
	}
	return names
}

// clockTick is USER_HZ, the unit of CPU times in /proc: 10 ms on every
// architecture that we run on.
const clockTick = 10 * time.Millisecond

// cpu adds up the CPU time of the processes that are alive and of the children
// that they have waited for.
func (s *sampler) cpu(m *sandbox.Metrics) {
	if s == nil || s.group != nil {
		return
	}
	var user, system time.Duration
	pids, _ := s.tree()
	for _, pid := range pids {
		u, k := cpuTimes(readAt(s.proc, fmt.Sprintf("%d/stat", pid)))
		user, system = user+u, system+k
	}
	m.CPUUser, m.CPUSystem = &user, &system
}

// cpuTimes reads utime, stime, cutime and cstime.
func cpuTimes(stat []byte) (user, system time.Duration) {
	ticks := statFields(stat, 14, 4)
	if ticks == nil {
		return 0, 0
	}
	return time.Duration(ticks[0]+ticks[2]) * clockTick, time.Duration(ticks[1]+ticks[3]) * clockTick
}

// statFields reads n numbers of /proc/PID/stat from a field on, which are counted
// from 1; nil when it has less. The second is a name that may hold anything, in
// parentheses.
func statFields(stat []byte, from, n int) []int64 {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const first = 3 // behind the name
	if len(fields) < from-first+n {
		return nil
	}
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i], _ = strconv.ParseInt(string(fields[from-first+i]), 10, 64)
	}
	return numbers
}

// readAt reads the beginning of a small file below a directory; a file that is
// gone reads as empty.
func readAt(dir *os.File, name string) []byte {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buf := make([]byte, 1024)
	n, _ := unix.Read(fd, buf)
	return buf[:max(n, 0)]
}

func (s *sampler) stop() {
	if s == nil {
		return
	}
	close(s.quit)
	s.ended.Wait()
	if s.ownProc {
		s.proc.Close()
	}
}

// fill adds what was seen to the end of the process.
func (s *sampler) fill(exit *sandbox.Exit) {
	exit.MemoryKill = s.killed
	m := &exit.Metrics
	if m.MemoryPeakBytes == nil || *m.MemoryPeakBytes < s.peakBytes {
		m.MemoryPeakBytes = &s.peakBytes
		m.Sources["memory_peak_bytes"] = "runtime"
	}
	if m.ProcessesPeak == nil && s.peakProcesses > 0 {
		m.ProcessesPeak = &s.peakProcesses
		m.Sources["processes_peak"] = "runtime"
	}
}

// diskSampler watches the files of a container whose directories are the host's.
type diskSampler struct {
	meter  *diskMeter
	kill   func()
	quit   chan struct{}
	ended  sync.WaitGroup
	killed bool
}

// diskSampleEvery bounds how late a disk limit without a file system of its own
// is held, and what looking at it costs.
const diskSampleEvery = 100 * time.Millisecond

// startDiskSampler watches a process that cannot write to what is closed.
func startDiskSampler(meter *diskMeter, closed []string, kill func()) *diskSampler {
	s := &diskSampler{meter: meter, kill: kill, quit: make(chan struct{})}
	meter.begin(closed)
	s.ended.Go(s.run)
	return s
}

func (s *diskSampler) run() {
	tick := time.NewTicker(diskSampleEvery)
	defer tick.Stop()
	for over := s.meter.measure(); ; over = s.meter.due() && s.meter.measure() {
		if over && s.confirmed() && !fault.Off("sampler", "disk") {
			s.killed = true
			s.kill()
			return
		}
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
	}
}

// confirmed looks again: a file that moves meanwhile may be counted twice, but not
// time after time; and one that a program keeps moving may be missed.
func (s *diskSampler) confirmed() bool {
	for range 3 {
		if s.meter.measure() {
			return true
		}
	}
	return false
}

// stop ends the sampling and tells whether it ended the process. If not, it leaves
// what is used now that no program runs.
func (s *diskSampler) stop() bool {
	if s == nil {
		return false
	}
	close(s.quit)
	s.ended.Wait()
	if !s.killed {
		s.meter.measure()
	}
	return s.killed
}
