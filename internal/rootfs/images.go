package rootfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Images are the images that containers of a runtime can have. The store is opened
// when the first one is asked for: a run without one does not pay for it.
type Images struct {
	// Dir is the directory of the store; empty is none.
	Dir string
	// Pull gets images that are not in the store from their registries.
	Pull bool
	// Notify, if not nil, is told how far a pull is. It may be called from several
	// goroutines.
	Notify func(string)

	mu    sync.Mutex // guards the fields below
	store *image.Store
	told  map[string]int64 // the tenths of a step that were told of, by image and step
}

// Look describes an image, and gets it first where that is needed.
func (s *Images) Look(ctx context.Context, ref string) (sandbox.Image, error) {
	i, err := s.Acquire(ctx, ref, "")
	if i == nil || err != nil {
		return sandbox.Image{}, err
	}
	defer i.Close()
	return i.Info(), nil
}

// Acquire holds an image for a container until it is closed. Without a name it is
// nil; with a digest it is the image of that one, whatever the name means by now. The
// error is an [*sandbox.ImageError].
func (s *Images) Acquire(ctx context.Context, ref, digest string) (*Image, error) {
	if ref == "" {
		return nil, nil //nolint:nilnil // the nil Image is the host's toolchains
	}
	if s.Dir == "" {
		return nil, &sandbox.ImageError{Ref: ref, Err: errors.New("no directory for images is configured, so there are none")}
	}
	store, err := s.open()
	if err != nil {
		return nil, &sandbox.ImageError{Ref: ref, Err: err}
	}
	lease, err := store.Acquire(ctx, cmp.Or(digest, ref))
	if errors.Is(err, image.ErrNotFound) && s.Pull && digest == "" {
		s.notify("pulling the image " + ref)
		if _, err = store.Pull(ctx, ref); err == nil {
			lease, err = store.Acquire(ctx, ref)
		}
	}
	if err != nil {
		return nil, s.problem(ref, err)
	}
	files, err := os.OpenRoot(lease.Root())
	if err != nil {
		return nil, &sandbox.ImageError{Ref: ref, Err: errors.Join(err, lease.Close())}
	}
	return &Image{name: ref, lease: lease, files: files}, nil
}

func (s *Images) open() (*image.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		return s.store, nil
	}
	store, err := image.Open(s.Dir, image.Options{Progress: s.progress})
	s.store = store
	return store, err
}

// Close closes the store. Images that are held stay so.
func (s *Images) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

func (s *Images) notify(line string) {
	if s.Notify != nil {
		s.Notify(line)
	}
}

// progress tells of each tenth of a step.
func (s *Images) progress(p image.Progress) {
	const steps = 10
	if p.Total <= 0 {
		return
	}
	tenth, key := p.Done*steps/p.Total, string(p.Step)+" "+p.Image
	s.mu.Lock()
	news := tenth != s.told[key]
	if s.told == nil {
		s.told = map[string]int64{}
	}
	s.told[key] = tenth
	if tenth == steps {
		delete(s.told, key)
	}
	s.mu.Unlock()
	if news {
		s.notify(fmt.Sprintf("pulling the image %s: %s %d of %d MiB", p.Image, p.Step, p.Done>>20, p.Total>>20))
	}
}

// problem says what to do about an image that cannot be had.
func (s *Images) problem(ref string, err error) error {
	e := &sandbox.ImageError{Ref: ref, Err: err}
	var at *image.Error
	if errors.As(err, &at) && at.Layer == 0 && at.Entry == "" {
		e.Err = at.Err // it says which image, as e does
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case errors.Is(err, image.ErrNotFound) && !s.Pull:
		e.Mend = "Run sandbox-run image pull " + ref
	case errors.Is(err, image.ErrNotFound):
		e.Mend = "Is the name right? sandbox-run image ls shows those that are here"
	case errors.Is(err, image.ErrPlatform):
		e.Mend = "Choose one for linux/" + runtime.GOARCH
	case errors.Is(err, image.ErrNoSpace), errors.Is(err, image.ErrHostile), errors.Is(err, image.ErrTooLarge), errors.Is(err, image.ErrUnsupported):
	default:
		e.Mend = "Try again: sandbox-run image pull " + ref
	}
	return e
}
