package rootfs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Image is an image that a container has for its root: the lower of two layers, of
// which the upper is ours and has the places where something is mounted. The nil
// Image is none: the container has the host's toolchains.
type Image struct {
	name  string
	lease *image.Lease
	files *os.Root
	once  sync.Once
}

// Dir is the directory of the image's files, an absolute path.
func (i *Image) Dir() string { return i.lease.Root() }

// Info describes the image.
func (i *Image) Info() sandbox.Image {
	return sandbox.Image{Name: i.name, Digest: i.lease.Digest, Env: i.lease.Config.Env}
}

// Close lets the store remove the image. Containers that had it must be gone.
func (i *Image) Close() {
	if i == nil {
		return
	}
	i.once.Do(func() {
		i.files.Close()
		_ = i.lease.Close() // of a descriptor that nothing was written to
	})
}

// maxLinks is how many symbolic links Linux follows in one name.
const maxLinks = 40

// OwnDir is a name below the root for what runtimes need there themselves.
const OwnDir = ".sandbox-run"

// ours tells the directories of a root in which nothing is an image's.
func ours(name string) bool {
	switch name {
	case OwnDir, "dev", "proc", "sys", "run", "tmp", strings.Trim(sandbox.WorkspaceDir, "/"), strings.Trim(sandbox.BuildDir, "/"):
		return true
	}
	return false
}

// Place is where something is mounted that programs are to find at target. It has
// no leading slash. Links of the image are followed as programs would follow them,
// one name at a time and never out of it, so that no component of a place is a link
// in both layers together: where links lead nowhere, or to what is ours, the place is
// the target itself and our layer hides the link. What the store holds never
// changes, so neither does a place.
func (i *Image) Place(target string) string {
	literal := strings.Trim(path.Clean("/"+target), "/")
	if i == nil {
		return literal
	}
	at, rest := ".", strings.Split(literal, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..": // of a link
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		if ours(next) {
			if links > 0 {
				return literal
			}
			return next + strings.TrimSuffix("/"+path.Join(rest...), "/")
		}
		info, err := i.files.Lstat(next)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			at = next
			continue
		}
		link, err := i.files.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return literal
		}
		if path.IsAbs(link) {
			at = "."
		}
		rest = append(strings.Split(link, "/"), rest...)
	}
	if at == "." {
		return literal
	}
	return at
}

// Mode is that of a directory of the image, which one of our layer above it has as
// well: the upper one is what programs see.
func (i *Image) Mode(dir string) os.FileMode {
	if i == nil {
		return 0o755
	}
	info, err := i.files.Lstat(dir)
	if err != nil || !info.IsDir() {
		return 0o755
	}
	return info.Mode() & (fs.ModePerm | fs.ModeSticky)
}
