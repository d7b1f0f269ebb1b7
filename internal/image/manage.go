package image

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// List returns all images, by name.
func (s *Store) List() ([]Image, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	digests, err := s.digests()
	if err != nil {
		return nil, err
	}
	var images []Image
	for _, digest := range digests {
		info, err := s.read(digest)
		if errors.Is(err, ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		info.Names = namesOf(digest, names)
		images = append(images, info)
	}
	slices.SortFunc(images, func(a, b Image) int {
		return cmp.Or(slices.Compare(a.Names, b.Names), cmp.Compare(a.Digest, b.Digest))
	})
	return images, nil
}

// Acquire gives the root directory of an image, by name, tag, digest or the first
// twelve digits of it, and keeps it there until the lease is closed.
func (s *Store) Acquire(ctx context.Context, ref string) (*Lease, error) {
	lease, err := s.acquire(ctx, ref)
	return lease, s.about(ref, err)
}

func (s *Store) acquire(ctx context.Context, ref string) (*Lease, error) {
	digest, _, err := s.find(ref)
	if err != nil {
		return nil, err
	}
	lock, err := s.openLock(digest)
	if err != nil {
		return nil, err
	}
	return s.lease(ctx, digest, lock)
}

// lease waits for the lock of an image, which must be that image's still.
func (s *Store) lease(ctx context.Context, digest v1.Hash, lock *os.File) (*Lease, error) {
	err := lockfile.Wait(ctx, lock, false)
	if err == nil && !s.sameFile(lock, filepath.Join(imagePath(digest), lockFile)) {
		err = problemf(ErrNotFound, "somebody has removed it just now; pull or import it again")
	}
	l := &Lease{lock: lock, root: s.rootPath(digest)}
	if err == nil {
		l.Image, err = s.image(digest)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return l, nil
}

func (s *Store) openLock(digest v1.Hash) (*os.File, error) {
	f, err := s.root.OpenFile(filepath.Join(imagePath(digest), lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return f, err
}

// Remove removes a name, and with its last name the image. By digest, it removes
// the image and all its names. An image that is in use stays, with its names.
func (s *Store) Remove(ctx context.Context, ref string) error {
	return s.about(ref, s.remove(ctx, ref))
}

func (s *Store) remove(ctx context.Context, ref string) error {
	var gone dropped
	err := s.locked(ctx, func() error {
		digest, matched, err := s.find(ref)
		if err != nil {
			return err
		}
		names, err := s.names()
		if err != nil {
			return err
		}
		if matched != "" && len(namesOf(digest, names)) > 1 {
			delete(names, matched)
			return s.writeNames(names)
		}
		gone, err = s.drop(digest, names)
		return err
	})
	return errors.Join(err, gone.remove(s))
}

// GC removes the images that have no name and are not in use: those whose name
// was given to a newer one. It returns them.
func (s *Store) GC(ctx context.Context) (removed []Image, err error) {
	if _, err := s.reclaim(); err != nil {
		return nil, err
	}
	images, err := s.List()
	if err != nil {
		return nil, err
	}
	for _, img := range images {
		err := s.collect(ctx, img)
		if errors.Is(err, ErrInUse) || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return removed, s.about(img.Digest, err)
		}
		removed = append(removed, img)
	}
	return removed, nil
}

// collect removes an image that has no name, if that is still so.
func (s *Store) collect(ctx context.Context, img Image) error {
	var gone dropped
	err := s.locked(ctx, func() error {
		digest, err := v1.NewHash(img.Digest)
		if err != nil {
			return err
		}
		names, err := s.names()
		if err != nil {
			return err
		}
		if len(namesOf(digest, names)) > 0 {
			return ErrInUse
		}
		gone, err = s.drop(digest, names)
		return err
	})
	return errors.Join(err, gone.remove(s))
}

// dropped is an image that has lost its names and its place, and is removed when
// the store's lock is free again: that takes a while.
type dropped struct {
	path string
	lock *os.File
}

func (d dropped) remove(s *Store) error {
	if d.lock == nil {
		return nil
	}
	return errors.Join(s.erase(d.path), d.lock.Close())
}

// drop takes names and place from an image. The caller holds the store's lock.
// Names go first: what is left of an interrupted removal is garbage.
func (s *Store) drop(digest v1.Hash, names map[string]v1.Hash) (dropped, error) {
	lock, err := s.openLock(digest)
	if err != nil {
		return dropped{}, err
	}
	if err = lockfile.Try(lock, true); errors.Is(err, lockfile.ErrHeld) {
		err = problemf(ErrInUse, "it is in use; try again when the programs that run in it have ended")
	}
	maps.DeleteFunc(names, func(_ string, d v1.Hash) bool { return d == digest })
	if err == nil {
		err = s.writeNames(names)
	}
	full := isFull(err)
	if err != nil && !full {
		return dropped{}, errors.Join(err, lock.Close())
	}
	gone, err := s.moveAway(imagePath(digest))
	if err == nil && !full {
		return dropped{gone, lock}, nil
	}
	if err == nil { // the names are written where the image was
		err = s.erase(gone)
	}
	if err == nil {
		err = s.writeNames(names)
	}
	return dropped{}, errors.Join(err, lock.Close())
}
