package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fileTree implements [sandbox.FileTree] below a directory descriptor that was
// taken before any program ran. Whatever a program plants afterwards, names are
// resolved below that descriptor, never through a symbolic link, and as the
// program's own user.
type fileTree struct {
	dir   *os.File
	root  *os.Root
	user  int // see [asUser]
	usage func() sandbox.DiskUsage
}

func newFileTree(dir *os.File, id identity, usage func() sandbox.DiskUsage) (*fileTree, error) {
	t := &fileTree{dir: dir, user: id.programUser(), usage: usage}
	open := func() (err error) {
		t.root, err = os.OpenRoot(selfPath(dir))
		return err
	}
	err := open()
	if errors.Is(err, fs.ErrPermission) { // the program has closed it to others, and we may have no right over it
		err = asUser(t.user, open)
	}
	if err != nil {
		return nil, fmt.Errorf("open the file tree: %w", err)
	}
	return t, nil
}

// WriteFile implements [sandbox.FileTree].
func (t *fileTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	var f *os.File
	err := asUser(t.user, func() (err error) {
		f, err = t.create(name, mode)
		return err
	})
	if err != nil {
		f.Close()
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// create makes a file, and the directories above it.
func (t *fileTree) create(name string, mode fs.FileMode) (*os.File, error) {
	if err := t.mkdirAll(path.Dir(name)); err != nil {
		return nil, err
	}
	// Never through what is there: a link or FIFO of the program's is removed.
	if err := t.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode.Perm()); err != nil { // the umask must not take what was asked for
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// MkdirAll implements [sandbox.FileTree].
func (t *fileTree) MkdirAll(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	return asUser(t.user, func() error { return t.mkdirAll(name) })
}

// mkdirAll tries the whole name, since most directories are there or one above is, and then goes
// down part by part: it is the server's own time, and a name may have many.
func (t *fileTree) mkdirAll(name string) error {
	if name == "." {
		return nil
	}
	if err := t.mkdir(t.root, name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	at, err := t.root.OpenRoot(".")
	for err == nil {
		part, below, more := strings.Cut(name, "/")
		above := at
		if err = t.mkdir(above, part); err == nil && more {
			at, err = above.OpenRoot(part) // which the program may have taken away again
		}
		above.Close()
		if name = below; !more {
			break
		}
	}
	return err
}

// mkdir makes a directory that may be there.
func (t *fileTree) mkdir(at *os.Root, name string) error {
	err := at.Mkdir(name, 0o755)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := at.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: name, Err: unix.ENOTDIR}
	}
	return err
}

// Open implements [sandbox.FileTree].
func (t *fileTree) Open(name string) (sandbox.File, error) {
	var f *os.File
	err := asUser(t.user, func() (err error) {
		f, err = t.open(name)
		return err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (t *fileTree) open(name string) (*os.File, error) {
	if fault.Off("collect", "links") {
		return os.OpenFile(filepath.Join(fmt.Sprintf("/proc/self/fd/%d", t.dir.Fd()), name), os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
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

// Walk implements [sandbox.FileTree]. What visit does it does as us.
func (t *fileTree) Walk(limit int, visit func(sandbox.FileInfo) error) error {
	w := walker{user: t.user, left: limit, visit: visit}
	top, err := w.open(t.dir, ".")
	if errors.Is(err, fs.ErrPermission) {
		return nil // the program has closed it, as it may close those within
	}
	if err != nil {
		return fmt.Errorf("walk the file tree: %w", err)
	}
	return w.walk(top, "", sandbox.MaxWalkDepth) // which bounds the descriptors too
}

type walker struct {
	user  int
	left  int
	visit func(sandbox.FileInfo) error
}

// changed tells that a program has removed, closed or replaced what was to be looked
// at. Any other failure is ours: what is not seen for it would be missing in a result.
func changed(err error) bool {
	return absent(err) || errors.Is(err, unix.ELOOP)
}

// absent tells that there is nothing by a name that we could reach.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOTDIR)
}

// walk visits what dir holds and closes it. Each directory is opened from its
// parent's descriptor, so that no name is ever resolved from outside.
func (w *walker) walk(dir *os.File, prefix string, depth int) error {
	defer dir.Close()
	for w.left > 0 {
		names, err := dir.Readdirnames(min(256, w.left))
		if errors.Is(err, io.EOF) || changed(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list the directory %q: %w", prefix, err)
		}
		w.left -= len(names)
		infos, err := w.look(dir, prefix, names)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if err := w.entry(dir, info, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// look describes names of a directory, without those that have vanished.
func (w *walker) look(dir *os.File, prefix string, names []string) ([]sandbox.FileInfo, error) {
	infos := make([]sandbox.FileInfo, 0, len(names))
	err := asUser(w.user, func() error {
		for _, name := range names {
			var st unix.Stat_t
			switch err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); {
			case err == nil:
				infos = append(infos, sandbox.FileInfo{
					Path: prefix + name, Size: st.Size, Mode: fileMode(st.Mode),
					ModTime: time.Unix(st.Mtim.Unix()), Inode: st.Ino, Links: uint64(st.Nlink),
				})
			case !changed(err):
				return fmt.Errorf("look at the file %q: %w", prefix+name, err)
			}
		}
		return nil
	})
	return infos, err
}

func (w *walker) entry(dir *os.File, info sandbox.FileInfo, depth int) error {
	if err := w.visit(info); err != nil {
		return err
	}
	if !info.Mode.IsDir() || depth == 1 {
		return nil
	}
	inner, err := w.open(dir, path.Base(info.Path))
	if changed(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the directory %q: %w", info.Path, err)
	}
	return w.walk(inner, info.Path+"/", depth-1)
}

func (w *walker) open(parent *os.File, name string) (*os.File, error) {
	fd := -1
	err := asUser(w.user, func() (err error) {
		fd, err = unix.Openat(int(parent.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		if fd >= 0 { // opened, and then the thread did not become us again
			unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
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
