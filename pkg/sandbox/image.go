package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// Image is the root file system that a container has in place of the host's
// toolchains.
type Image struct {
	// Name is what it was asked for by, e.g. python:3.12-slim.
	Name string
	// Digest tells its content: an image of another digest may hold something else.
	Digest string
	// Env is the environment that the image asks for, K=V, PATH among it.
	Env []string
	// Elsewhere tells that containers of it cannot have directories of this host;
	// see [Keeper].
	Elsewhere bool
}

// IsZero tells whether there is no image: containers have the host's toolchains.
func (i Image) IsZero() bool { return i.Name == "" && i.Digest == "" }

// String is the name, with the digest if that is known: name@digest.
func (i Image) String() string {
	if i.Digest == "" || strings.HasSuffix(i.Name, "@"+i.Digest) {
		return i.Name
	}
	return i.Name + "@" + i.Digest
}

// Keeper is implemented by runtimes that cannot be given directories of this host,
// such as build caches, and keep read-only copies of them beside their images. A
// container has what is kept by [Mount.Kept].
type Keeper interface {
	// Kept tells whether a directory of this name is kept for containers of spec.
	Kept(ctx context.Context, spec Spec, name string) (bool, error)
	// Keep keeps a directory, whose content comes as a tar archive of directories,
	// regular files and symbolic links, which nobody follows but programs in a
	// container. It is kept when Keep returns without an error, and not at all
	// otherwise.
	Keep(ctx context.Context, spec Spec, dir KeptDir, content io.Reader) error
}

// KeptDir is a directory that a [Keeper] keeps.
type KeptDir struct {
	Name string
	// Bytes are what it takes at least, names included, where whoever brings it knows.
	Bytes int64
	// Lifetime is how long it is of use, at most; 0 is as long as its image. A runtime may
	// remove it then, bring its last day to an end, and have it make room for others: unless
	// a container has it.
	Lifetime time.Duration
}

// ErrNotKept is what a container cannot be made for: something that was kept for it is
// there no more, and can be kept again.
var ErrNotKept = errors.New("nothing is kept")

// ImageError is an image that was asked for and cannot be used: it does not exist,
// may not be read, or is for another machine.
type ImageError struct {
	Ref  string
	Err  error
	Mend string // what to do, a sentence; may be empty
}

func (e *ImageError) Error() string {
	s := fmt.Sprintf("the image %s cannot be used: %s", e.Ref, strings.TrimSuffix(e.Err.Error(), "."))
	if e.Mend != "" {
		s += ". " + e.Mend
	}
	return s
}

func (e *ImageError) Unwrap() error { return e.Err }

// MatchImage tells whether a name of an image is one of those that patterns mean, as
// [path.Match] does. A digest names an image whatever stands before it, so a name that has one is
// meant only by a pattern with that digest. What may be the first digits of an id, by which
// engines know every image that they have, is meant only by a pattern that is the same.
func MatchImage(patterns []string, name string) bool {
	if imageID().MatchString(name) {
		return slices.Contains(patterns, name)
	}
	_, digest, _ := strings.Cut(name, "@")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		_, same, _ := strings.Cut(pattern, "@")
		return ok && err == nil && same == digest
	})
}

// imageID is what may be an image's id, or the beginning of one.
var imageID = lazyregexp.New(`^(sha256:)?[0-9a-f]+$`)
