package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fileTree implements [sandbox.FileTree] below a directory descriptor that was
// taken before any program ran. Whatever a program plants afterwards, names are
// resolved below that descriptor and never through a symbolic link.
type fileTree struct {
	dir   *os.File
	root  *os.Root
	owner int // files are given to this id; -1 leaves them ours
	usage func() sandbox.DiskUsage
}

func newFileTree(dir *os.File, id identity, usage func() sandbox.DiskUsage) (*fileTree, error) {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return nil, fmt.Errorf("open the file tree: %w", err)
	}
	t := &fileTree{dir: dir, root: root, owner: -1, usage: usage}
	if id.root {
		t.owner = id.id + 1
	}
	return t, nil
}

// WriteFile implements [sandbox.FileTree].
func (t *fileTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	if dir := path.Dir(name); dir != "." {
		if err := t.MkdirAll(dir); err != nil {
			return err
		}
	}
	// Never through what is there: a link or FIFO of the program's is removed.
	if err := t.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if t.owner >= 0 {
		err = errors.Join(err, f.Chown(t.owner, t.owner))
	}
	// The umask must not take what was asked for.
	return errors.Join(err, f.Chmod(mode.Perm()), f.Close())
}

// MkdirAll implements [sandbox.FileTree].
func (t *fileTree) MkdirAll(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return nil
	}
	err := t.root.Mkdir(name, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		info, err := t.root.Lstat(name)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: name, Err: unix.ENOTDIR}
		}
		return err
	case errors.Is(err, fs.ErrNotExist):
		if err := t.MkdirAll(path.Dir(name)); err != nil {
			return err
		}
		return t.MkdirAll(name)
	case err != nil:
		return err
	}
	if t.owner >= 0 {
		return t.root.Lchown(name, t.owner, t.owner)
	}
	return nil
}

// Open implements [sandbox.FileTree].
func (t *fileTree) Open(name string) (sandbox.File, error) {
	before, err := t.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	// A program that still runs may have put something else there.
	after, err := f.Stat()
	if err == nil && (!after.Mode().IsRegular() || !os.SameFile(before, after)) {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("changed while it was opened")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Usage implements [sandbox.FileTree].
func (t *fileTree) Usage() (sandbox.DiskUsage, error) { return t.usage(), nil }

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

// usage is how full the tree of a container's directory is.
func (c *container) usage(dir string) sandbox.DiskUsage {
	f, ok := c.trees[dir]
	switch {
	case !ok:
		return sandbox.DiskUsage{}
	case !c.walls.namespaces:
		return c.usageOutside(dir)
	}
	u, _ := diskUsage(f)
	return c.withoutRoot(dir, u)
}

// maxCounted is how many names usageOutside looks at.
const maxCounted = 50_000

// usageOutside adds up the files of a container whose directories are the
// host's: the workspace and the temporary directory together, or the build
// directory.
func (c *container) usageOutside(dir string) sandbox.DiskUsage {
	dirs, limit := []string{sandbox.WorkspaceDir, sandbox.TempDir}, c.spec.Disk
	if dir == sandbox.BuildDir {
		dirs, limit = []string{dir}, c.spec.BuildDisk
	}
	u := sandbox.DiskUsage{BytesTotal: limit.Bytes, InodesTotal: limit.Inodes}
	for _, d := range dirs {
		t := fileTree{dir: c.trees[d]}
		_ = t.Walk(maxCounted, func(f sandbox.FileInfo) error {
			u.InodesUsed++
			if f.Mode.IsRegular() {
				u.BytesUsed += f.Size
			}
			return nil
		})
	}
	return u
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

// maxDepth bounds how deep Walk goes, and with it the descriptors it holds.
const maxDepth = 128

// Walk implements [sandbox.FileTree].
func (t *fileTree) Walk(limit int, visit func(sandbox.FileInfo) error) error {
	fd, err := unix.Openat(int(t.dir.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // the program has closed it, as it may close those within
	}
	if err != nil {
		return fmt.Errorf("walk the file tree: %w", err)
	}
	w := walker{left: limit, visit: visit}
	return w.walk(os.NewFile(uintptr(fd), "."), "", maxDepth)
}

type walker struct {
	left  int
	visit func(sandbox.FileInfo) error
}

// walk visits what dir holds and closes it. Each directory is opened from its
// parent's descriptor, so that no name is ever resolved from outside.
func (w *walker) walk(dir *os.File, prefix string, depth int) error {
	defer dir.Close()
	for w.left > 0 {
		names, err := dir.Readdirnames(256)
		if err != nil {
			return nil // io.EOF, or the directory has vanished
		}
		for _, name := range names {
			if w.left == 0 {
				return nil
			}
			w.left--
			if err := w.entry(dir, prefix, name, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) entry(dir *os.File, prefix, name string, depth int) error {
	var st unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return nil
	}
	info := sandbox.FileInfo{
		Path: prefix + name, Size: st.Size, Mode: fileMode(st.Mode),
		ModTime: time.Unix(st.Mtim.Unix()), Inode: st.Ino, Links: uint64(st.Nlink),
	}
	if err := w.visit(info); err != nil {
		return err
	}
	if !info.Mode.IsDir() || depth == 0 {
		return nil
	}
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return w.walk(os.NewFile(uintptr(fd), name), prefix+name+"/", depth-1)
}

// fileMode turns the kernel's mode into Go's.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	default:
		m |= fs.ModeDevice
	}
	return m
}
