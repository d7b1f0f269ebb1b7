package image

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// work is a directory in tmp that one maker holds by its lock.
type work struct {
	store *Store
	path  string // in the store; empty when it is an image's by now
	dir   *os.Root
	lock  *os.File
}

// claim makes the directory in which an image of this digest is put together. It
// waits for whoever is making the same image; nil means that it is there.
func (s *Store) claim(ctx context.Context, digest v1.Hash) (*work, error) {
	for !s.has(digest) {
		w, err := s.enter(ctx, filepath.Join(workDir, digest.Hex))
		if w != nil || err != nil {
			return w, err
		}
	}
	return nil, nil
}

// scratch makes a directory that nobody else asks for.
func (s *Store) scratch(ctx context.Context) (*work, error) {
	for {
		w, err := s.enter(ctx, filepath.Join(workDir, "new-"+rand.Text()))
		if w != nil || err != nil {
			return w, err
		}
	}
}

// enter makes a directory and locks it. It returns nil when that directory was
// moved away while it waited for the lock: its maker was done, or it was
// reclaimed.
func (s *Store) enter(ctx context.Context, path string) (*work, error) {
	if err := s.root.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fault.Point("image begun")
	lockPath := filepath.Join(path, lockFile)
	lock, err := s.root.OpenFile(lockPath, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := lockfile.Wait(ctx, lock, true); err != nil || !s.sameFile(lock, lockPath) {
		return nil, errors.Join(err, lock.Close())
	}
	w := &work{store: s, path: path, lock: lock}
	if w.dir, err = s.root.OpenRoot(path); err == nil {
		err = emptyDir(w.dir)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// emptyDir removes what is in a directory, but for its lock.
func emptyDir(dir *os.Root) error {
	names, err := fs.ReadDir(dir.FS(), ".")
	for _, entry := range names {
		if entry.Name() != lockFile {
			err = errors.Join(err, dir.RemoveAll(entry.Name()))
		}
	}
	return err
}

// close removes the directory, unless it has become an image.
func (w *work) close() error {
	var err error
	if w.path != "" {
		err = w.store.discard(w.path)
	}
	if w.dir != nil {
		w.dir.Close()
	}
	return errors.Join(err, w.lock.Close())
}

// finish turns the directory into the image of this digest and gives it its full
// names. One that is there already stays.
func (w *work) finish(ctx context.Context, digest v1.Hash, info Image, names []string) (Image, error) {
	if err := w.write(info); err != nil {
		return Image{}, err
	}
	fault.Point("image unpacked")
	if err := lockfile.SyncDisk(w.dir); err != nil {
		return Image{}, err
	}
	err := w.store.locked(ctx, func() (err error) {
		if !w.store.has(digest) {
			if err := w.store.root.Rename(w.path, imagePath(digest)); err != nil {
				return err
			}
			fault.Point("image kept")
			w.path = ""
		}
		info, err = w.store.addNames(digest, names)
		return err
	})
	return info, err
}

// discard removes a directory of work whose lock the caller holds.
func (s *Store) discard(path string) error {
	gone, err := s.moveAway(path)
	if err != nil {
		return err
	}
	fault.Point("work moved away")
	return s.erase(gone)
}

// moveAway takes a directory out of the way before it is removed, so that nobody
// begins anew in what is being removed.
func (s *Store) moveAway(path string) (gone string, err error) {
	gone = filepath.Join(workDir, "gone-"+rand.Text())
	return gone, s.root.Rename(path, gone)
}

// erase removes a directory that was moved away, whose lock the caller holds. The
// lock goes last: a directory that has none has nothing else.
func (s *Store) erase(gone string) error {
	dir, err := s.root.OpenRoot(gone)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := emptyDir(dir); err != nil {
		return err
	}
	if err := dir.Remove(lockFile); err != nil {
		return err
	}
	return s.removeEmpty(gone)
}

// removeEmpty removes a directory, unless there is something in it. Somebody else
// may have found it empty, too.
func (s *Store) removeEmpty(path string) error {
	err := s.root.Remove(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) { // ENOTEMPTY
		return nil
	}
	return err
}

// reclaim removes the work that nobody holds, and returns where it was.
func (s *Store) reclaim() (removed []string, err error) {
	entries, err := fs.ReadDir(s.root.FS(), workDir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(workDir, entry.Name())
		gone, err := s.reclaimOne(path)
		if err != nil {
			return removed, fmt.Errorf("remove what an interrupted pull has left: %w", err)
		}
		if gone {
			removed = append(removed, filepath.Join(s.dir, path))
		}
	}
	return removed, nil
}

func (s *Store) reclaimOne(path string) (gone bool, err error) {
	lockPath := filepath.Join(path, lockFile)
	lock, err := s.root.OpenFile(lockPath, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, s.removeEmpty(path)
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if err = lockfile.Try(lock, true); err == nil && s.sameFile(lock, lockPath) {
		return true, s.discard(path)
	}
	if errors.Is(err, lockfile.ErrHeld) {
		err = nil
	}
	return false, err
}
