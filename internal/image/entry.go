package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// clean is the name of an entry within the root, without slashes around it; "."
// is the root itself. Absolute names begin there as well: archives of whole
// systems have them.
func (u *unpacker) clean(name string) (string, error) {
	if len(name) > u.limits.PathBytes {
		return "", problemf(ErrTooLarge, "its name has %d bytes; the limit is %d", len(name), u.limits.PathBytes)
	}
	if slices.Contains(strings.Split(name, "/"), "..") {
		return "", problemf(ErrHostile, "its name has \"..\" in it, which is not unpacked")
	}
	return path.Join(".", strings.TrimLeft(name, "/")), nil
}

// place unpacks one entry.
func (u *unpacker) place(h *tar.Header, content io.Reader) error {
	if err := u.countFile(); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeXGlobalHeader { // comments, as git archive writes them
		return nil
	}
	name, err := u.clean(h.Name)
	if err != nil {
		return err
	}
	if mark, err := markOf(name); mark != noMark || err != nil {
		if mark == foreignMark {
			u.leftOut.add(u.layers, h.Name, "bookkeeping of a storage driver")
		}
		return err
	}
	if name == "." {
		if h.Typeflag != tar.TypeDir {
			return problemf(ErrHostile, "it takes the place of the root directory")
		}
		return nil
	}
	p, err := u.tree.directory(path.Dir(name))
	if err != nil {
		return err
	}
	if err := u.tree.fits(p, path.Base(name)); err != nil {
		return err
	}
	return u.make(p, path.Base(name), h, content)
}

// make puts an entry into its directory.
func (u *unpacker) make(p *place, name string, h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return u.directory(p, name, h)
	}
	if h.Typeflag == tar.TypeLink {
		return u.hardLink(p, name, h)
	}
	if err := u.replace(p, name); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(p, name, h, content)
	case tar.TypeSymlink:
		return u.symlink(p, name, h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		u.leftOut.add(u.layers, h.Name, "a device")
	case tar.TypeFifo:
		u.leftOut.add(u.layers, h.Name, "a FIFO")
	default:
		u.leftOut.add(u.layers, h.Name, fmt.Sprintf("of the unknown type %q", h.Typeflag))
	}
	return nil
}

// replace makes room for an entry. Files are never written over: other names may
// mean them.
func (u *unpacker) replace(p *place, name string) error {
	was, err := u.tree.remove(p, name)
	if err == nil && was != nil && !was.Mode().IsRegular() {
		u.tree.moved()
	}
	return err
}

// directory makes a directory, or gives the one that is there its mode. Its owner
// can always remove what is in it.
func (u *unpacker) directory(p *place, name string, h *tar.Header) error {
	mode := permissions(h) | 0o700
	if h.Mode&0o1000 != 0 {
		mode |= os.ModeSticky
	}
	if info, err := p.dir().Lstat(name); err == nil && info.IsDir() {
		return chmod(p.dir(), name, mode)
	}
	if err := u.replace(p, name); err != nil {
		return err
	}
	return makeDir(p.dir(), name, mode)
}

// permissions are those of an entry, without set-id bits.
func permissions(h *tar.Header) os.FileMode {
	return os.FileMode(h.Mode & 0o777)
}

func (u *unpacker) file(p *place, name string, h *tar.Header, content io.Reader) error {
	if h.Size > u.limits.Bytes-u.bytes {
		return problemf(ErrTooLarge, "it has %d bytes; the limit for all files together is %d", h.Size, u.limits.Bytes)
	}
	u.bytes += h.Size
	f, err := p.dir().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = u.write(f, content, h.Size)
	if err = errors.Join(err, f.Chmod(permissions(h)), f.Close()); err != nil {
		return err
	}
	return setTime(p.dir(), name, h.ModTime)
}

// write copies a file's content. Blocks of zeros become holes: an archive of a
// few bytes can claim any number of them.
func (u *unpacker) write(f *os.File, content io.Reader, size int64) error {
	for at := int64(0); at < size; {
		if err := u.ctx.Err(); err != nil { // a hole is not read from anywhere
			return err
		}
		n, err := io.ReadFull(content, u.buffer[:min(size-at, int64(len(u.buffer)))])
		if err != nil {
			return damaged(err)
		}
		if !isZero(u.buffer[:n]) {
			if _, err := f.WriteAt(u.buffer[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
	}
	return f.Truncate(size)
}

func isZero(data []byte) bool {
	return data[0] == 0 && bytes.Equal(data[:len(data)-1], data[1:])
}

// setTime keeps a file's time, by which Python tells whether what it has compiled
// is current.
func setTime(dir *os.Root, name string, at time.Time) error {
	if at.Unix() <= 0 || at.Year() > 2200 { // past what nanoseconds can count
		return nil
	}
	return dir.Chtimes(name, at, at)
}

func (u *unpacker) symlink(p *place, name, target string) error {
	if target == "" || len(target) >= u.limits.PathBytes {
		return problemf(ErrHostile, "it is a link to a name that cannot be")
	}
	return p.dir().Symlink(target, name)
}

// hardLink gives a second name to a file of the image. A link to a symbolic link
// is another one, and is not followed.
func (u *unpacker) hardLink(p *place, name string, h *tar.Header) error {
	target, err := u.clean(h.Linkname)
	if err != nil {
		return problemf(ErrHostile, "it is a hard link to %q: %v", h.Linkname, err)
	}
	from, err := u.tree.walk(path.Dir(target), false)
	if err != nil {
		return u.noTarget(p, name, h, err)
	}
	defer from.close()
	old, own := path.Join(from.path(), path.Base(target)), path.Join(p.path(), name)
	if old == own {
		return nil
	}
	info, err := u.tree.root.Lstat(old)
	if err == nil && info.IsDir() {
		err = problemf(ErrHostile, "it is a hard link to %q, which is a directory", h.Linkname)
	}
	if err == nil {
		err = u.replace(p, name)
	}
	if err == nil && info.Mode().IsRegular() {
		err = u.tree.root.Link(old, own)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = u.copyLink(p, name, old)
	}
	return u.noTarget(p, name, h, err)
}

// noTarget says so when what a hard link means is not there, unless it was left out:
// then the link is, too.
func (u *unpacker) noTarget(p *place, name string, h *tar.Header, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !u.wasLeftOut(h.Linkname) {
		return problemf(ErrHostile, "it is a hard link to %q, which is not there", h.Linkname)
	}
	u.leftOut.add(u.layers, h.Name, "a hard link to what was left out")
	return u.replace(p, name)
}

func (u *unpacker) copyLink(p *place, name, old string) error {
	text, err := u.tree.root.Readlink(old)
	if err != nil {
		return err
	}
	return p.dir().Symlink(text, name)
}

// wasLeftOut tells whether an entry of this name was left out; of those after the first
// hundred each may have been.
func (u *unpacker) wasLeftOut(target string) bool {
	name, err := u.clean(target)
	if err != nil {
		return false
	}
	return u.leftOut.Count > maxLeftOut || slices.ContainsFunc(u.leftOut.Entries, func(e LeftOutEntry) bool {
		left, err := u.clean(e.Name)
		return err == nil && left == name
	})
}
