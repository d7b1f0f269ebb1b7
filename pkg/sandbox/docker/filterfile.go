package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// filterFiles are the names of filters for Podman, in the directory of temporary files.
// Whoever holds the lock of one is alive and needs it.
const filterFiles = "sandbox-run-seccomp-*.json"

// writeFilter makes a file of a filter, whose lock it holds until it is removed.
func writeFilter(text string) (path string, remove func(), err error) {
	f, err := makeFilter()
	if err == nil {
		remove = func() {
			os.Remove(f.Name())
			f.Close() // and with it goes the lock
		}
		if _, err = f.WriteString(text); err == nil {
			return f.Name(), remove, nil
		}
		remove()
	}
	return "", nil, fmt.Errorf("write a filter for Podman: %w", err)
}

// makeFilter makes an empty file and locks it. Who removes those of the dead may be
// faster: then it is another one.
func makeFilter() (*os.File, error) {
	for {
		f, err := os.CreateTemp("", filterFiles)
		if err != nil {
			return nil, err
		}
		fault.Point("filter for podman made")
		err = lockfile.Try(f, true)
		mine, opened := f.Stat()
		named, gone := os.Lstat(f.Name())
		switch {
		case err == nil && opened == nil && gone == nil && os.SameFile(mine, named):
			return f, nil
		case err == nil || errors.Is(err, lockfile.ErrHeld):
			f.Close()
		default:
			os.Remove(f.Name())
			f.Close()
			return nil, err
		}
	}
}

// removeFilters removes those of clients that have died: nobody holds their locks.
func removeFilters() (removed []string, err error) {
	dir, err := os.OpenRoot(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("look for filters for Podman: %w", err)
	}
	defer dir.Close()
	names, err := fs.Glob(dir.FS(), filterFiles)
	for _, name := range names {
		gone, failed := removeFilter(dir, name)
		if gone {
			removed = append(removed, filepath.Join(dir.Name(), name))
		}
		err = errors.Join(err, failed)
	}
	return removed, err
}

// removeFilter removes one, if it is a filter of a dead client of ours. Everybody may make
// something of that name, such as a FIFO without a writer, or a link to a device.
func removeFilter(dir *os.Root, name string) (removed bool, err error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // another user's, a link, or just removed
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := dir.Lstat(name)
	if err != nil || !named.Mode().IsRegular() || !os.SameFile(opened, named) || lockfile.Try(f, true) != nil {
		return false, nil
	}
	if err := dir.Remove(name); err != nil {
		return false, err
	}
	return true, nil
}
