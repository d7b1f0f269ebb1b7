package local

import (
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Directories of the tmpfs, when an image is below the root: our layer, and where
// the root is mounted.
const (
	layerDir = ".layer"
	rootDir  = ".root"
)

// overImage mounts the root: our layer above the image. From then on the tmpfs is
// below the root, see [world.own], and directories of the root can only be found,
// not made.
func (w *world) overImage() {
	w.dir(rootDir, 0o755)
	w.dir(layerDir, 0o755)
	w.chdir("our layer", layerDir)
	for _, name := range []string{rootfs.OwnDir, "dev", "proc", "run", "sys", "tmp", sandbox.WorkspaceDir} {
		w.dir(name, 0o755)
	}
	if w.spec.BuildDisk.Bytes > 0 {
		w.dir(sandbox.BuildDir, 0o755)
	}
	w.writeEtc()
	for _, m := range w.spec.Mounts {
		w.place(m)
	}
	w.chdir("the tmpfs", staging)
	w.linked(w.image.Dir(), rootDir, ".lower", func(name string) {
		w.mount("the image", "overlay", rootDir, "overlay", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "lowerdir="+layerDir+":"+name)
	})
	w.mount("our own directory", ".", path.Join(rootDir, rootfs.OwnDir), "", unix.MS_BIND, "")
	w.chdir("the root", rootDir)
	w.empty("run")
	w.empty("sys")
}

func (w *world) chdir(what, dir string) {
	w.p.Call("chdir to "+what, unix.SYS_CHDIR, w.p.String(dir))
}

// place makes the place of a mount in our layer. Files are copied there.
func (w *world) place(m sandbox.Mount) {
	target := w.target(m)
	info, err := os.Stat(m.Source)
	switch {
	case m.Source != "" && absent(err) && m.Optional:
	case m.Source != "" && err == nil && info.Mode().IsRegular():
		w.parent(target)
		w.copyFile(m.Source, target, info.Size())
	default:
		w.dir(target, 0o755)
	}
}
