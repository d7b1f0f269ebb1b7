package local

import (
	"io/fs"
	"os"

	"github.com/sandbox-run/sandbox-run/internal/rootfs"
)

// hostRoot is what of the host's root a world is made of, looked up once.
type hostRoot struct {
	system       []systemDir
	proc         []maskedName
	linkerCache  int64 // size of /etc/ld.so.cache, or 0
	alternatives bool
	tameLoopback bool // socket buffers are charged to nobody
}

// systemDir is a directory of the operating system, or a link to one.
type systemDir struct{ name, link string }

type maskedName struct {
	name string
	dir  bool
}

func lookAtHost() (h hostRoot) {
	for _, name := range rootfs.SystemDirs() {
		info, err := os.Lstat("/" + name)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			link, _ := os.Readlink("/" + name)
			h.system = append(h.system, systemDir{name, link})
		case info.IsDir():
			h.system = append(h.system, systemDir{name: name})
		}
	}
	for _, name := range rootfs.MaskedProc() {
		// What only the host's root may open is closed to every program already;
		// a mask costs 5 µs a container.
		if info, err := os.Lstat("/proc/" + name); err == nil && info.Mode()&0o077 != 0 {
			h.proc = append(h.proc, maskedName{name, info.IsDir()})
		}
	}
	if info, err := os.Stat(linkerCache); err == nil && info.Mode().IsRegular() {
		h.linkerCache = info.Size()
	}
	info, err := os.Stat(alternatives)
	h.alternatives = err == nil && info.IsDir()
	return h
}
