package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// Options of a store.
type Options struct {
	Limits Limits
	// Progress hears how far pulls and imports are; nil is nobody. It is called
	// from other goroutines, once at a time for each image.
	Progress func(Progress)
}

// Store is a directory of images. It is safe for concurrent use, by several
// processes as well.
type Store struct {
	dir     string // absolute
	root    *os.Root
	options Options
	// reclaimed is written by Open alone.
	reclaimed []string
}

// Dir is where the store of a data directory is.
func Dir(dataDir string) string { return filepath.Join(dataDir, "images") }

// Folders and files of a store; see the package's comment.
const (
	imagesDir = "sha256"
	workDir   = "tmp"
	namesFile = "names.json"
	lockFile  = "lock"
	infoFile  = "image.json"
	rootDir   = "root"
)

// Open opens the store in a directory, which is made when it is missing and is
// closed to everybody but its owner. It removes what an interrupted pull has left
// behind. Close the store in the end; leases stay valid.
func Open(dir string, options Options) (*Store, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	options.Limits = options.Limits.withDefaults()
	s := &Store{options: options}
	if err := s.open(dir); err != nil {
		return nil, fmt.Errorf("open the image store in %s: %w", dir, errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *Store) open(dir string) (err error) {
	if s.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	// Others may pass the data directory, but not enter the store.
	if err = os.MkdirAll(filepath.Dir(s.dir), 0o711); err != nil {
		return err
	}
	if err = os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return err
	}
	if err = chmod(s.root, ".", 0o700); err != nil {
		return fmt.Errorf("close it to others: %w", err)
	}
	for _, name := range []string{imagesDir, workDir} {
		if err = s.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	s.reclaimed, err = s.reclaim()
	return err
}

// Reclaimed are the directories, of interrupted pulls, that Open has removed.
func (s *Store) Reclaimed() []string { return s.reclaimed }

// Close gives back what the store itself holds. Leases stay valid.
func (s *Store) Close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// chmod changes the mode of a file or directory that exists. It never follows a
// link out of dir.
func chmod(dir *os.Root, name string, mode os.FileMode) error {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// locked calls do with the lock of the whole store, which is held for moments
// only.
func (s *Store) locked(ctx context.Context, do func() error) error {
	f, err := s.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		defer f.Close()
		err = lockfile.Wait(ctx, f, true)
	}
	if err != nil {
		return fmt.Errorf("lock the image store: %w", err)
	}
	return do()
}

// imagePath is where a complete image is. All of them are named by SHA-256, which
// we computed.
func imagePath(digest v1.Hash) string { return filepath.Join(imagesDir, digest.Hex) }

func (s *Store) has(digest v1.Hash) bool {
	_, err := s.root.Lstat(imagePath(digest))
	return err == nil
}

// sameFile tells whether an open file still has this name: it may have been
// removed, or moved, while we waited for its lock.
func (s *Store) sameFile(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := s.root.Lstat(name)
	return err == nil && os.SameFile(opened, named)
}
