package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// diskSample is one look at the disks of a container whose directories are the
// host's, as the programs' user. Programs run meanwhile: what moves may be missed,
// or counted twice.
type diskSample struct {
	c     *container
	disks []hostDisk
	used  []sandbox.DiskUsage // of each
	// files are those that were counted and can be met again.
	files map[fileID]struct{}
	// hides tells that something could not be looked at, and failed that it was not for want
	// of rights, which a program may take from us.
	hides, failed bool
}

// fileID is one file of this host.
type fileID struct{ device, inode uint64 }

func newDiskSample(c *container) *diskSample {
	s := &diskSample{c: c, disks: c.hostDisks(), files: map[fileID]struct{}{}}
	for _, d := range s.disks {
		s.used = append(s.used, sandbox.DiskUsage{BytesTotal: d.limit.Bytes, InodesTotal: d.limit.Inodes})
	}
	return s
}

func (s *diskSample) take() {
	inAnyOrder(s.nameless, func() {
		for i, d := range s.disks {
			for _, dir := range d.dirs {
				s.top(s.c.trees[dir], &s.used[i])
			}
		}
	})
}

// top counts a tree.
func (s *diskSample) top(dir *os.File, u *sandbox.DiskUsage) {
	fd, err := openDir(int(dir.Fd()), ".")
	if err != nil {
		s.missed(err)
		s.hides = true
		return
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		u.BytesUsed += taken(&st)
	}
	s.directory(fd, u, sandbox.MaxWalkDepth)
}

// directory counts what is in a directory, and closes it. Each one is opened from
// its parent's descriptor, so that no name is ever resolved from outside. A disk
// that has too many names is full: there the count ends.
func (s *diskSample) directory(fd int, u *sandbox.DiskUsage, depth int) {
	defer unix.Close(fd)
	if depth == 0 {
		s.hides = true
		return
	}
	inAnyOrder(func() {
		s.each(fd, u, func(name string, kind uint32) {
			if kind != unix.DT_DIR {
				s.name(fd, name, u)
			}
		})
	}, func() {
		var dirs []string
		s.each(fd, u, func(name string, kind uint32) {
			if kind == unix.DT_DIR {
				dirs = append(dirs, name)
			}
		})
		rand.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		for _, name := range dirs {
			s.name(fd, name, u)
			inner, err := openDir(fd, name)
			if err != nil {
				s.missed(err)
				continue
			}
			s.directory(inner, u, depth-1)
		}
	})
}

// inAnyOrder calls both. When we count can be seen in /proc, so a program that knew
// the order could always have its files where the count has been already.
func inAnyOrder(a, b func()) {
	if rand.IntN(2) == 0 {
		a, b = b, a
	}
	a()
	b()
}

// each calls visit for what is in a directory, with its type.
func (s *diskSample) each(fd int, u *sandbox.DiskUsage, visit func(name string, kind uint32)) {
	if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
		s.missed(err)
		return
	}
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if n <= 0 {
			s.missed(err)
			return
		}
		for entries := buf[:n]; len(entries) > 0; { // struct linux_dirent64, getdents(2)
			const kindAt, nameAt = 18, 19
			size := binary.NativeEndian.Uint16(entries[nameAt-3:])
			name, _, _ := bytes.Cut(entries[nameAt:size], []byte{0})
			kind := uint32(entries[kindAt])
			entries = entries[size:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			if u.InodesUsed > u.InodesTotal {
				return
			}
			if kind == unix.DT_UNKNOWN && isDirectory(fd, string(name)) {
				kind = unix.DT_DIR
			}
			visit(string(name), kind)
		}
	}
}

// isDirectory is for file systems that do not list types.
func isDirectory(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// name counts one name of a directory, that of a file which is closed to us as well: or a
// program could have the count go through any number of them.
func (s *diskSample) name(dir int, name string, u *sandbox.DiskUsage) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		s.missed(err)
		if errors.Is(err, fs.ErrPermission) {
			u.InodesUsed++
		}
		return
	}
	s.count(&st, u)
}

// missed notes that something could not be looked at, unless it has gone or is
// something else by now.
func (s *diskSample) missed(err error) {
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP) {
		s.hides = true
		s.failed = s.failed || !errors.Is(err, fs.ErrPermission)
	}
}

// count adds a file: each of its names as one, like tmpfs does, and what it takes
// once. The links of an upper layer to what a mount has are the host's.
func (s *diskSample) count(st *unix.Stat_t, u *sandbox.DiskUsage) {
	if user := s.c.identity.programUser(); user != 0 && int(st.Uid) != user {
		return
	}
	u.InodesUsed++
	if st.Nlink == 0 || st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		id := fileID{st.Dev, st.Ino}
		if _, again := s.files[id]; again {
			return
		}
		s.files[id] = struct{}{}
	}
	u.BytesUsed += taken(st)
}

// taken is what a file takes: its blocks. Those that are written later than the
// file, as on ZFS and network file systems, are in its length; so are those that
// it has left out, which a program may fill at any time.
func taken(st *unix.Stat_t) int64 {
	const block = 512  // stat(2), whatever the file system's blocks are
	const empty = 4096 // a directory of few names, which counts for nothing on a tmpfs
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return max(st.Blocks*block, st.Size)
	case unix.S_IFDIR:
		return max(st.Blocks*block-empty, 0)
	}
	return st.Blocks * block
}

// openDir opens a directory without leaving a trace: by the time of its last access
// a program could tell how far the count is, and move its files behind it.
func openDir(parent int, name string) (fd int, err error) {
	for _, quiet := range []int{unix.O_NOATIME, 0} { // refused for what is not the program's
		fd, err = unix.Openat(parent, name, quiet|unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EPERM) {
			break
		}
	}
	return fd, err
}
