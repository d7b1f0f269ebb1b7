package image

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// What can go wrong with an image, for errors.Is.
var (
	// ErrName: what was given is no name of an image.
	ErrName = errors.New("this names no image")
	// ErrNotFound: no image of that name is here, in the registry or in the archive.
	ErrNotFound = errors.New("there is no such image")
	// ErrInUse: a lease on the image is held.
	ErrInUse = errors.New("the image is in use")
	// ErrPlatform: the image is for other machines.
	ErrPlatform = errors.New("the image is for other machines")
	// ErrUnsupported: it is no container image, or of a kind that is not unpacked.
	ErrUnsupported = errors.New("this is no image that can be unpacked")
	// ErrTooLarge: one of the Limits was reached.
	ErrTooLarge = errors.New("the image is too large")
	// ErrHostile: an archive does what no honest tool makes it do.
	ErrHostile = errors.New("the image is not what honest tools make")
	// ErrCorrupt: what arrived has not the digest that was promised, or cannot be
	// read.
	ErrCorrupt = errors.New("the image is damaged")
	// ErrNoSpace: the disk of the store, or its owner's quota, is full.
	ErrNoSpace = errors.New("no space is left for images")
)

// Error says where in an image something went wrong. Its Err is one of the Err
// variables of this package, an error of the system, or a context's.
type Error struct {
	Image  string // as the caller named it
	Layer  int    // from 1; 0 when it is about the whole image
	Layers int
	Digest string // of the layer
	Entry  string // of the layer's archive, as it is written there
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "image %s", e.Image)
	if e.Layer > 0 {
		fmt.Fprintf(&b, ", layer %d of %d", e.Layer, e.Layers)
	}
	if e.Digest != "" {
		fmt.Fprintf(&b, " (%s)", e.Digest)
	}
	if e.Entry != "" {
		fmt.Fprintf(&b, ", entry %q", e.Entry[:min(len(e.Entry), maxName)])
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// problem is one of this package's errors with a sentence of its own.
type problem struct {
	kind error
	text string
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.kind }

func problemf(kind error, format string, args ...any) error {
	return &problem{kind, clipped(fmt.Sprintf(format, args...))}
}

// clipped leaves out the middle of a sentence that quotes an image at any length.
func clipped(text string) string {
	if len(text) <= 2*maxQuote {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuote]+" … "+text[len(text)-maxQuote:], "")
}

// about names the image in an error that does not yet, and says what to do where
// the disk is full.
func (s *Store) about(image string, err error) error {
	if err == nil {
		return nil
	}
	located := &Error{}
	if !errors.As(err, &located) {
		located = &Error{Err: err}
	}
	if located.Image == "" {
		located.Image = image
	}
	if isFull(err) && !errors.Is(err, ErrNoSpace) {
		located.Err = problemf(ErrNoSpace, "%v: the disk that holds %s is full, or your quota on it: remove images that you do not need, or choose another data directory", root(located.Err), s.dir)
	}
	return located
}

// isFull tells that the disk, or its owner's quota, is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// root is what the system said, without the name of a file that the reader
// cannot look at any more.
func root(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
