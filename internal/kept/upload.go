package kept

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// mayUpload counts an upload, unless there are too many.
func (s *Store) mayUpload(tenant string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent >= s.limits.Uploads || s.uploads[tenant] >= s.limits.TenantUploads {
		return false
	}
	s.sent++
	s.uploads[tenant]++
	return true
}

func (s *Store) uploaded(tenant string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent--
	if s.uploads[tenant]--; s.uploads[tenant] == 0 {
		delete(s.uploads, tenant)
	}
}

// way is a directory that is on its way.
type way struct {
	name string
	in   *os.Root
	tree *os.Root
	size *os.File // locked: whoever finds it so leaves the directory alone
}

// begin makes one, with an empty tree in it.
func (s *Store) begin(ctx context.Context) (*way, error) {
	lock, err := s.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := lockfile.Wait(ctx, lock, false); err != nil {
		return nil, err
	}
	w := &way{name: onItsWay + rand.Text(), in: s.root}
	err = s.root.Mkdir(w.name, 0o700)
	if err == nil {
		w.size, err = s.root.OpenFile(path.Join(w.name, sizeName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err == nil {
		err = lockfile.Try(w.size, true)
	}
	tree := path.Join(w.name, treeName)
	if err == nil {
		err = errors.Join(s.root.Mkdir(tree, 0o700), s.root.Chmod(tree, 0o777)) // past the umask
	}
	if err == nil {
		w.tree, err = s.root.OpenRoot(tree)
	}
	if err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// end removes the directory, unless it has got its name. What fails here the next start does.
func (w *way) end() {
	if w.tree != nil {
		w.tree.Close()
	}
	if w.size != nil {
		w.size.Close()
	}
	_ = w.in.RemoveAll(w.name)
}

// Reclaim removes from dir what was on its way when its maker died, and names it. Nothing
// there is nothing to remove.
func Reclaim(dir string) (removed []string, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := reclaim(root)
	for _, name := range names {
		removed = append(removed, filepath.Join(dir, name))
	}
	return removed, err
}

func reclaim(root *os.Root) (removed []string, err error) {
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if alone, err := locked(lock); !alone {
		return nil, err // somebody begins an upload, or does this: it is for the next
	}
	names, err := fs.Glob(root.FS(), onItsWay+"*")
	for _, name := range names {
		switch done, failed := abandoned(root, name); {
		case failed != nil:
			err = errors.Join(err, failed)
		case done:
			removed = append(removed, name)
		}
	}
	return removed, err
}

// abandoned removes a directory that is on its way, unless its maker lives.
func abandoned(root *os.Root, name string) (done bool, err error) {
	size, err := root.Open(path.Join(name, sizeName))
	if err == nil {
		defer size.Close()
		if dead, err := locked(size); !dead {
			return false, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, root.RemoveAll(name)
}

// locked takes a lock alone, unless somebody has it.
func locked(f *os.File) (taken bool, err error) {
	if err = lockfile.Try(f, true); errors.Is(err, lockfile.ErrHeld) {
		return false, nil
	}
	return err == nil, err
}
