package instance

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// RemoveTree removes a directory and all below it, whatever a program has made of
// that: directories that their owner may not enter, and trees deeper than there
// are descriptors or than a path is long. No program is alive below it.
//
// [os.RemoveAll] goes down as deep as the tree is. This moves every directory that
// it meets to the top and empties them there, one after the other. What somebody else
// removes meanwhile, such as a cleaner of temporary files, is as good as removed.
func RemoveTree(path string) error {
	top, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer top.Close()
	r := remover{top: top}
	for {
		names, err := namesIn(top)
		if err != nil {
			return r.unlessGone(err)
		}
		if len(names) == 0 {
			return r.unlessGone(os.Remove(path))
		}
		var failed error
		for _, name := range names {
			if err := r.remove(name); err != nil && failed == nil { // what can go goes
				failed = fmt.Errorf("remove %s: %w", filepath.Join(path, name), err)
			}
			fault.Point("entry removed")
		}
		if failed != nil {
			return failed
		}
	}
}

// namesIn lists some of what is in a directory, and nothing when it is empty.
func namesIn(dir *os.File) ([]string, error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(1024)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

type remover struct {
	top   *os.File
	moved int // how many directories were
	gone  int // how many names in a row
}

// maxGone is how many names in a row may have gone: a file system may list for ever what
// it does not have.
const maxGone = 1 << 16

// unlessGone passes over what has gone meanwhile.
func (r *remover) unlessGone(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		r.gone = 0
		return err
	}
	if r.gone++; r.gone > maxGone {
		return err
	}
	return nil
}

// remove removes an entry of the top, and moves the directories in it there.
func (r *remover) remove(name string) error {
	if err := unix.Unlinkat(int(r.top.Fd()), name, 0); !errors.Is(err, unix.EISDIR) {
		return r.unlessGone(err)
	}
	dir, err := claim(r.top, name)
	if err != nil {
		return r.unlessGone(err)
	}
	defer dir.Close()
	for {
		names, err := namesIn(dir)
		if err != nil {
			return r.unlessGone(err)
		}
		if len(names) == 0 {
			return r.unlessGone(unix.Unlinkat(int(r.top.Fd()), name, unix.AT_REMOVEDIR))
		}
		for _, inner := range names {
			err := unix.Unlinkat(int(dir.Fd()), inner, 0)
			if errors.Is(err, unix.EISDIR) {
				err = r.move(dir, inner)
			}
			if err := r.unlessGone(err); err != nil {
				return err
			}
		}
	}
}

// move moves a directory to the top. That is a change of the directory, too: it
// has another parent.
func (r *remover) move(from *os.File, name string) error {
	dir, err := claim(from, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		r.moved++
		// To put it in an empty directory's place does no harm, and not every file
		// system knows RENAME_NOREPLACE.
		err := unix.Renameat(int(from.Fd()), name, int(r.top.Fd()), strconv.Itoa(r.moved))
		if !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
	}
}

// claim opens a directory that a program has left, as its owner.
func claim(parent *os.File, name string) (*os.File, error) {
	fd, err := unix.Openat(int(parent.Fd()), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if us := os.Geteuid(); int(st.Uid) != us {
		if err := unix.Fchownat(fd, "", us, -1, unix.AT_EMPTY_PATH); err != nil {
			return nil, err
		}
	}
	self := fmt.Sprintf("/proc/self/fd/%d", fd)
	if st.Mode&0o700 != 0o700 { // a change that is none is written to the disk all the same
		if err := unix.Fchmodat(unix.AT_FDCWD, self, 0o700, 0); err != nil {
			return nil, err
		}
	}
	dir, err := unix.Openat(unix.AT_FDCWD, self, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(dir), name), nil
}
