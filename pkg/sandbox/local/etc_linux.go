package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// commonEtc is the /etc of containers that have the host's system, and no network that leads out. It
// is the same for all, so who makes many ([Options.Many]) makes it once, in the instance's directory:
// a copy for each would be 68 KiB of memory, most of it the linker's cache. Each has it read-only
// and through inodes of its own, as it has /usr: it is the second layer of that overlay, where it is
// called [etcName]. An overlay of its own would be 10 KiB more, and 1 KiB for every 64 containers,
// which is what the kernel has in each memory group for all file systems of the machine
// (mm/shrinker.c). The zero value is none.
type commonEtc struct {
	mu   sync.Mutex
	dir  string // empty: each container makes its own
	like string // what of the host's is in it
	made int
}

const (
	linkerCache, alternatives = "/etc/ld.so.cache", "/etc/alternatives"
	etcName                   = ".sandbox-run-etc"
)

// place returns where it is, or "" if there is none. It is made anew when the host's has changed, as
// by an installed package, or when a cleaner of temporary files has been there. Who lives keeps
// the one from before.
func (e *commonEtc) place(home *instance.Instance) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dir == "" {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(e.dir, etcName, "passwd")); err != nil || e.like != likeHost() {
		e.make(home)
	}
	return e.dir
}

// prepare makes it. That it cannot be made, as on a full disk, is no reason to run nothing.
func (e *commonEtc) prepare(home *instance.Instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.make(home)
}

// make makes it, or leaves none. The caller holds mu.
func (e *commonEtc) make(home *instance.Instance) {
	e.made++
	e.dir, e.like = filepath.Join(home.Dir, fmt.Sprintf("etc-%d", e.made)), likeHost()
	err := home.MakeDir()
	if err == nil {
		err = makeEtc(e.dir)
	}
	if err != nil {
		_ = instance.RemoveTree(e.dir)
		e.dir = ""
	}
}

// likeHost tells what would be copied of the host's, by sizes and times.
func likeHost() string {
	var like strings.Builder
	for _, name := range []string{linkerCache, alternatives} {
		if info, err := os.Lstat(name); err == nil {
			fmt.Fprintln(&like, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return like.String()
}

// makeEtc makes the layer and what is in it.
func makeEtc(layer string) error {
	dir := filepath.Join(layer, etcName)
	for _, name := range []string{layer, dir} {
		if err := instance.Mkdir(name, 0o755); err != nil {
			return err
		}
	}
	etc, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer etc.Close()
	for _, f := range rootfs.Etc("") {
		if err := writeAll(etc, f.Name, []byte(f.Content)); err != nil {
			return err
		}
	}
	if err := bring(etc, linkerCache); err != nil || !isDir(alternatives) {
		return err
	}
	entries, err := os.ReadDir(alternatives)
	if err != nil {
		return err
	}
	if err := errors.Join(etc.Mkdir(below(alternatives), 0o755), etc.Chmod(below(alternatives), 0o755)); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := bring(etc, filepath.Join(alternatives, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// below is what a file of /etc is called there.
func below(name string) string { return strings.TrimPrefix(name, "/etc/") }

// bring copies one of the host's files, or makes its link again. What is neither is not there, as
// what has gone meanwhile.
func bring(etc *os.Root, name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return etc.Symlink(target, below(name))
	case !info.Mode().IsRegular():
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return writeAll(etc, below(name), content)
}

// writeAll makes a file that everybody may read, whatever our umask is.
func writeAll(etc *os.Root, name string, content []byte) error {
	return errors.Join(etc.WriteFile(name, content, 0o644), etc.Chmod(name, 0o644))
}

// hasCommonEtc tells whether nothing in a container's /etc is its own.
func (h hostRoot) hasCommonEtc(spec sandbox.Spec) bool {
	if spec.Image != "" || spec.Network.LeadsOut() || fault.Off("inodes", "toolchains") {
		return false
	}
	below := func(m sandbox.Mount) bool { return sandbox.Overlap(m.Place(), "/etc") }
	return slices.Contains(h.system, systemDir{name: "usr"}) && !slices.ContainsFunc(spec.Mounts, below)
}
