package guest

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Walk implements [sandbox.FileTree].
func (t *fileTree) Walk(limit int, visit func(sandbox.FileInfo) error) error {
	w := walker{tree: t, left: limit, visit: visit}
	err := w.walk("", sandbox.MaxWalkDepth)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

type walker struct {
	tree  *fileTree
	left  int
	visit func(sandbox.FileInfo) error
}

// walk visits what a directory holds. One that has vanished, or that the program
// has closed, holds nothing.
func (w *walker) walk(dir string, depth int) error {
	empty := 0
	for offset := int64(0); w.left > 0; {
		names, next, err := w.tree.list(dir, offset)
		if errors.Is(err, spawn.ErrGone) {
			return err
		}
		if len(names) == 0 { // only . and .., or an init that keeps us here
			empty++
		}
		if err != nil || next == offset || empty > 2 {
			return nil
		}
		offset = next
		names = names[:min(len(names), w.left)]
		w.left -= len(names)
		infos, err := w.tree.lookAt(dir, names)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if err := w.entry(info, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) entry(info sandbox.FileInfo, depth int) error {
	err := w.visit(info)
	switch {
	case errors.Is(err, fs.SkipDir):
		return nil
	case err != nil:
		return err
	case info.Mode.IsDir() && depth > 1:
		return w.walk(info.Path, depth-1)
	}
	return nil
}

// listSize is how much of a directory is read at once.
const listSize = 32 << 10

// list reads names of a directory from an offset, and returns the next one.
func (t *fileTree) list(dir string, offset int64) (names []string, next int64, err error) {
	var p spawn.Program
	c := t.c.calls
	fd := t.readable(&p, dir)
	n, buf := p.Answer(4), p.Answer(listSize)
	p.Call("seek", c.lseek, fd, spawn.Value(offset), spawn.Value(0))
	p.Call(stepRead, c.getdents64, fd, buf, spawn.Value(listSize)).SaveAt(n, 0)
	reply, err := t.do(&p, "walk", dir)
	if err != nil {
		return nil, 0, err
	}
	size := min(binary.NativeEndian.Uint32(n.Of(reply, 4)), listSize)
	names, next = dirents(buf.Of(reply, int(size)), offset)
	return names, next, nil
}

// readable opens a directory of the tree for reading.
func (t *fileTree) readable(p *spawn.Program, dir string) spawn.Arg {
	c := t.c.calls
	flags := spawn.Value(oRDONLY | c.oDirectory | c.oNofollow | oCLOEXEC)
	if dir == "" {
		return p.Call(stepOpen, c.openat, spawn.FD(atFDCWD), p.String(t.dir), flags, spawn.Value(0)).Save()
	}
	above, last := t.down(p, dir, false)
	return p.Call(stepOpen, c.openat, above, p.String(last), flags, spawn.Value(0)).Save()
}

// dirents reads struct linux_dirent64: inode, offset of the next, length of this
// one, type, name. What cannot be a name is left out.
func dirents(b []byte, offset int64) (names []string, next int64) {
	const nameAt = 19
	next = offset
	for len(b) > nameAt {
		length := int(binary.NativeEndian.Uint16(b[16:]))
		if length <= nameAt || length > len(b) {
			break
		}
		name, _, _ := strings.Cut(string(b[nameAt:length]), "\x00")
		if name != "." && name != ".." && name != "" && !strings.Contains(name, "/") {
			names = append(names, name)
		}
		next = int64(binary.NativeEndian.Uint64(b[8:]))
		b = b[length:]
	}
	return names, next
}

// lookAtOnce is how many names one message asks about.
const lookAtOnce = 256

// lookAt looks at names of a directory; those that have vanished are passed over.
func (t *fileTree) lookAt(dir string, names []string) (infos []sandbox.FileInfo, err error) {
	for len(names) > 0 {
		n := min(len(names), lookAtOnce)
		part, err := t.lookAtSome(dir, names[:n])
		if err != nil {
			return nil, err
		}
		infos, names = append(infos, part...), names[n:]
	}
	return infos, nil
}

func (t *fileTree) lookAtSome(dir string, names []string) ([]sandbox.FileInfo, error) {
	var p spawn.Program
	fd := t.readable(&p, dir)
	stats := make([]spawn.Arg, len(names))
	for i, name := range names {
		stats[i] = p.Answer(statxSize)
		p.Call(stepStat, t.c.calls.statx, fd, p.String(name), spawn.Value(atSymlinkNofollow), spawn.Value(statxBasic), stats[i]).Allow(eNOENT)
	}
	reply, err := t.c.do(&p)
	if step := (*spawn.StepError)(nil); errors.As(err, &step) {
		return nil, nil // the directory has vanished
	}
	if err != nil {
		return nil, err
	}
	var infos []sandbox.FileInfo
	for i, name := range names {
		l := statOf(stats[i].Of(reply, statxSize))
		if l.mode == 0 { // it has vanished
			continue
		}
		infos = append(infos, sandbox.FileInfo{
			Path: path.Join(dir, name), Size: int64(l.size), Mode: l.fileMode(), ModTime: l.modified, Inode: l.inode, Links: uint64(l.links),
		})
	}
	return infos, nil
}
