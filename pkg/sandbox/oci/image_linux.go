package oci

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// hideOfImage hides what an image may not bring.
func (b *bundle) hideOfImage() {
	b.empty("/run")
	if !b.flavour.ownKernel { // whose /sys is its own
		b.empty("/sys")
	}
}

// target is where a mount of the spec belongs.
func (b *bundle) target(m sandbox.Mount) string {
	if m.Target == "" {
		return "/" + b.image.Place(m.Source)
	}
	return "/" + b.image.Place(m.Target)
}

// makeDirs makes a directory of the skeleton and those above it, as the image has
// them.
func (b *bundle) makeDirs(root *os.Root, name string) error {
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		err := root.Mkdir(at, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = root.Chmod(at, b.image.Mode(at))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
