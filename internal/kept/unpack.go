package kept

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxPath  = 1024
	maxDepth = 64
)

// unpacker unpacks one archive.
type unpacker struct {
	ctx    context.Context //nolint:containedctx // of one archive, from its first entry to the last
	root   *os.Root
	limits Limits
	bytes  int64
	names  int64
}

func refusedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArchive, fmt.Sprintf(format, args...))
}

func (u *unpacker) unpack(archive io.Reader) error {
	// A header can be as long as what is kept: nobody reads an archive that is
	// larger than its content could be.
	bounded := &io.LimitedReader{R: archive, N: 2 * u.limits.EntryBytes}
	r := tar.NewReader(bounded)
	for {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && bounded.N > 0:
			return nil
		case bounded.N <= 0:
			return refusedf("it is larger than %d bytes", 2*u.limits.EntryBytes)
		case err != nil && u.ctx.Err() == nil:
			return refusedf("%v", err)
		}
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if err := u.place(header, r); err != nil {
			return err
		}
	}
}

// place unpacks one entry.
func (u *unpacker) place(h *tar.Header, content io.Reader) error {
	name := path.Clean(strings.TrimSuffix(h.Name, "/"))
	switch {
	case len(h.Name) > maxPath || strings.Count(name, "/") >= maxDepth:
		return refusedf("a name is too long: %.60q…", h.Name)
	case !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00"):
		return refusedf("the name %.100q leads out of it", h.Name)
	case h.Typeflag == tar.TypeDir:
		return u.directory(name)
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeSymlink:
		return refusedf("%.100q is neither a regular file nor a directory nor a symbolic link", h.Name)
	case name == ".":
		return refusedf("a file takes the place of its root")
	}
	if err := u.directory(path.Dir(name)); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeSymlink {
		return u.link(name, h.Linkname)
	}
	return u.file(name, h, content)
}

// link makes a symbolic link, which is followed by nobody but programs in a container:
// what is unpacked goes through [os.Root].
func (u *unpacker) link(name, target string) error {
	if target == "" || len(target) > maxPath || strings.ContainsRune(target, 0) {
		return refusedf("the link %.100q leads nowhere", name)
	}
	if err := u.count(0); err != nil {
		return err
	}
	if err := u.root.Symlink(target, name); err != nil {
		return u.sorted(err, name)
	}
	return nil
}

// count takes a name and its bytes from what there may be.
func (u *unpacker) count(bytes int64) error {
	u.names++
	if bytes < 0 || bytes > u.limits.EntryBytes {
		return refusedf("a file of %d bytes; %d are the most of all", bytes, u.limits.EntryBytes)
	}
	u.bytes += pageBytes + (bytes+pageBytes-1)/pageBytes*pageBytes
	if u.names > u.limits.EntryNames || u.bytes > u.limits.EntryBytes {
		return refusedf("it holds more than %d names, or more than %d bytes", u.limits.EntryNames, u.limits.EntryBytes)
	}
	return nil
}

func (u *unpacker) directory(name string) error {
	if name == "." {
		return nil
	}
	for dir := range parents(name + "/") {
		err := u.root.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			if info, err := u.root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return refusedf("%.100q lies below a symbolic link", name)
			}
			continue // if it is a file, what is put into it fails
		}
		if err == nil {
			err = u.count(0)
		}
		if err == nil {
			err = u.root.Chmod(dir, 0o777) // past the umask
		}
		if err != nil {
			return u.sorted(err, name)
		}
	}
	return nil
}

func (u *unpacker) file(name string, h *tar.Header, content io.Reader) error {
	if err := u.count(h.Size); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return u.sorted(err, name)
	}
	mode := fs.FileMode(0o644)
	if h.Mode&0o100 != 0 {
		mode = 0o755
	}
	_, err = io.CopyN(f, content, h.Size)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return u.sorted(err, name)
	}
	if at := h.ModTime; at.Unix() > 0 && at.Year() <= 2200 { // what nanoseconds can count
		return u.root.Chtimes(name, at, at) // compilers compare them
	}
	return nil
}

// sorted tells the archive's faults from the disk's.
func (u *unpacker) sorted(err error, name string) error {
	if errors.Is(err, ErrArchive) {
		return err
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return refusedf("%.100q: %v", name, err)
	}
	return fmt.Errorf("keep %.100q: %w", name, err)
}
