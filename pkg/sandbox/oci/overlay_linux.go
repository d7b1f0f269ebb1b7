package oci

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
)

// overlay mounts a directory read-only, through inodes of its own: locks and
// inotify watches go by inode, and through a shared one they reach from one run
// into another. Single files are copied ([bundle.place]). A runtime with a kernel of
// its own has inodes of its own anyway.
func (b *bundle) overlay(target, source string) {
	if b.flavour.ownKernel {
		b.bind(source, target, "ro")
		return
	}
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "overlay", Source: "overlay",
		Options: []string{"ro", "nosuid", "nodev", "lowerdir=" + b.lower(source, target) + ":empty"},
	})
}

// writableOverlay mounts a directory, or an empty one, with a writable layer on the build
// disk, which [bundle.world] makes. A runtime with a kernel of its own gets links there.
func (b *bundle) writableOverlay(source, target string) {
	upper := filepath.Join("build", "u"+layerName(target))
	if b.flavour.ownKernel {
		b.bind(filepath.Join(b.dir, upper), target, "rw")
		if source != "" {
			lower := path.Join(ownDir, "layer", layerName(target))
			b.bind(source, lower, "ro")
			b.links = append(b.links, guest.Layer{Source: lower, Target: target})
		}
		return
	}
	lower := "empty"
	if source != "" {
		lower = b.lower(source, target)
	}
	work := filepath.Join("build", "w"+layerName(target))
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "overlay", Source: "overlay",
		Options: []string{"nosuid", "nodev", "lowerdir=" + lower, "upperdir=" + rootfs.EscapeOption(upper), "workdir=" + rootfs.EscapeOption(work)},
	})
}

// layerName tells layers apart by where they are mounted.
func layerName(target string) string { return url.PathEscape(strings.Trim(target, "/")) }

// layers are the targets of the mounts that have a writable layer.
func (b *bundle) layers() (targets []string) {
	for _, m := range b.spec.Mounts {
		if m.Overlay {
			targets = append(targets, b.target(m))
		}
	}
	return targets
}

// lower is what an overlay names a directory of the host. The kernel tells it the program:
// where that does not see the directory by its own name, it is a link in the bundle.
func (b *bundle) lower(source, target string) string {
	if source == target {
		return rootfs.EscapeOption(source)
	}
	b.lowers = append(b.lowers, source)
	return lowerLink(len(b.lowers) - 1)
}

// linkLowers makes these links.
func (b *bundle) linkLowers() error {
	dir, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	for i, source := range b.lowers {
		if err := dir.Symlink(source, lowerLink(i)); err != nil {
			return err
		}
	}
	return nil
}

func lowerLink(i int) string { return "lower" + strconv.Itoa(i) }
