package local

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func diskUsage(dir *os.File) (sandbox.DiskUsage, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &st); err != nil {
		return sandbox.DiskUsage{}, fmt.Errorf("statfs: %w", err)
	}
	return sandbox.DiskUsage{
		// Bavail, not Bfree: ext4 has blocks that it gives to nobody.
		BytesUsed:   int64(st.Blocks-st.Bavail) * st.Bsize,
		BytesTotal:  int64(st.Blocks) * st.Bsize,
		InodesUsed:  int64(st.Files - st.Ffree),
		InodesTotal: int64(st.Files),
		// Files grow by pages, also where the blocks are smaller.
		BlockBytes: max(st.Bsize, int64(os.Getpagesize())),
	}, nil
}

// usage is how full the tree of a container's directory is, or nothing where that cannot
// be told.
func (c *container) usage(dir string) sandbox.DiskUsage {
	u, _ := c.measure(dir)
	return u
}

func (c *container) measure(dir string) (sandbox.DiskUsage, error) {
	f, ok := c.trees[dir]
	switch {
	case !ok:
		return sandbox.DiskUsage{}, nil
	case !c.walls.namespaces:
		return c.usageOutside(dir), nil
	}
	u, err := diskUsage(f)
	if err != nil {
		return u, fmt.Errorf("measure the disk of %s: %w", dir, err)
	}
	return c.withoutRoot(dir, u), nil
}

// withoutRoot takes off what the root itself has of the disk, or adds what the
// file system of a workspace on disk has for itself, so that the figures are
// those of the limit.
func (c *container) withoutRoot(dir string, u sandbox.DiskUsage) sandbox.DiskUsage {
	if dir != sandbox.WorkspaceDir {
		return u
	}
	own, inodes := u.BytesTotal-c.spec.Disk.Bytes, u.InodesTotal-c.spec.Disk.Inodes
	u.BytesTotal, u.BytesUsed = u.BytesTotal-own, max(u.BytesUsed-own, 0)
	u.InodesTotal, u.InodesUsed = u.InodesTotal-inodes, max(u.InodesUsed-inodes, 0)
	return u
}

// usageOutside is the usage of a container whose directories are the host's. While
// a process runs, and for its end, it is what the sampler saw last: so whoever asks
// costs nothing, and what a limit was passed with is what the process is ended with.
func (c *container) usageOutside(dir string) sandbox.DiskUsage {
	if dir == sandbox.BuildDir && c.spec.BuildDisk.Bytes == 0 {
		return sandbox.DiskUsage{}
	}
	c.mu.Lock()
	running := c.running
	c.mu.Unlock()
	if running != nil && !running.Ended() {
		return c.meter.last(dir)
	}
	c.meter.begin(nil)
	c.meter.measure()
	return c.meter.last(dir)
}

// hostDisk is a limit for files in directories of the host's.
type hostDisk struct {
	dirs  []string // of the container's trees
	limit sandbox.DiskLimit
}

// hostDisks are the disks of a container whose directories are the host's. The
// first is that of the workspace. What is not the workspace is the build disk's,
// where there is one, like the upper layers of mounts at full.
func (c *container) hostDisks() []hostDisk {
	disks := []hostDisk{{[]string{sandbox.WorkspaceDir, sandbox.TempDir}, c.spec.Disk}}
	if c.spec.BuildDisk.Bytes > 0 {
		disks = append(disks, hostDisk{limit: c.spec.BuildDisk})
	}
	rest := &disks[len(disks)-1]
	for dir := range c.trees {
		if !slices.Contains(disks[0].dirs, dir) {
			rest.dirs = append(rest.dirs, dir)
		}
	}
	return disks
}

// diskMeter adds up what the programs of a container have on disks of the host's.
//
// It can be kept from seeing it: by a directory that its owner may not enter, by a
// process that lets nobody look at it, by descriptors that are on their way through
// a socket. None of these is a crime, so none ends a program. But from the moment
// that something is hidden on, what the host's file system has lost counts as the
// program's, although others write there too.
type diskMeter struct {
	c *container

	mu    sync.Mutex
	disks []sandbox.DiskUsage // as they were measured last, like hostDisks
	free  int64               // bytes that the file system had left then
	at    time.Time           // when that ended
	cost  time.Duration       // and how long it took
	// hidden is what the programs have and was not seen, and base the moment that
	// this is reckoned from.
	hidden int64
	begun  bool
	base   struct{ used, free int64 }
	// closed are directories that the programs cannot write to, and former what those before them
	// have hidden.
	closed []string
	former int64
}

// begin is called when no program has run since the last measurement: what the
// file system has lost meanwhile is not theirs. The next ones cannot write to what is
// closed.
func (m *diskMeter) begin(closed []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun, m.closed, m.former = false, closed, m.hidden
}

func (m *diskMeter) used() (bytes int64) {
	for _, d := range m.disks {
		bytes += d.BytesUsed
	}
	return bytes
}

// left is what the file system of all trees has left.
func (m *diskMeter) left() int64 {
	var st unix.Statfs_t
	if unix.Fstatfs(int(m.c.trees[sandbox.WorkspaceDir].Fd()), &st) != nil {
		return 0
	}
	return int64(st.Bfree) * st.Bsize
}

// last is the disk of a directory as it was measured last.
func (m *diskMeter) last(dir string) sandbox.DiskUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, d := range m.c.hostDisks() {
		if i < len(m.disks) && slices.Contains(d.dirs, dir) {
			return m.disks[i]
		}
	}
	return sandbox.DiskUsage{}
}

// due tells whether it is time to measure again: when no more than a twentieth of
// a core is spent on it, or when the file system has lost what was left of a limit.
func (m *diskMeter) due() bool {
	const share = 20
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := time.Since(m.at)
	if rest >= (share-1)*m.cost {
		return true
	}
	lost := m.free - m.left()
	return rest >= m.cost && slices.ContainsFunc(m.disks, func(d sandbox.DiskUsage) bool { return lost > d.BytesTotal-d.BytesUsed })
}

// measure looks at the disks, and tells whether one is over its limit.
func (m *diskMeter) measure() (over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	started := time.Now()
	m.free = m.left()
	s := m.look()
	for looks := 1; s.failed && looks < sureLooks; looks++ {
		s = m.look() // the program may have ended: what is not seen now is not in its verdict
	}
	m.disks = s.used
	m.reckon(s.hides)
	m.at, m.cost = time.Now(), time.Since(started)
	return slices.ContainsFunc(m.disks, func(d sandbox.DiskUsage) bool {
		return d.BytesUsed > d.BytesTotal || d.InodesUsed > d.InodesTotal
	})
}

func (m *diskMeter) look() *diskSample {
	s := newDiskSample(m.c)
	if asUser(m.c.identity.programUser(), func() error { s.take(); return nil }) != nil {
		s.hides = true
	}
	return s
}

// reckon adds what is hidden to the disk that has most room left, of those that whoever has hidden
// it could write to: which one it is on nobody knows.
func (m *diskMeter) reckon(hides bool) {
	seen := m.used()
	if !hides {
		m.hidden, m.former = 0, 0
	}
	if !hides || !m.begun {
		m.base.used, m.base.free, m.begun = seen+m.hidden, m.free, true
	}
	m.hidden = max(m.base.used+m.base.free-m.free-seen, 0)
	former := min(m.former, m.hidden)
	m.add(former, nil)
	m.add(m.hidden-former, m.closed)
}

// add adds bytes to the roomiest disk that is not closed, as the workspace's never is.
func (m *diskMeter) add(bytes int64, closed []string) {
	room := func(i int) int64 { return m.disks[i].BytesTotal - m.disks[i].BytesUsed }
	roomiest := 0
	for i, d := range m.c.hostDisks() {
		open := slices.ContainsFunc(d.dirs, func(dir string) bool { return !slices.Contains(closed, dir) })
		if open && room(i) > room(roomiest) {
			roomiest = i
		}
	}
	m.disks[roomiest].BytesUsed += bytes
}
