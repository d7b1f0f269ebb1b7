package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// bundle is a directory or an archive that holds images, as files by their names.
type bundle interface {
	// open opens a regular file; a link of the bundle leads to others of it.
	open(name string) (io.ReadCloser, error)
	io.Closer
}

// readDocument reads a small file of a bundle.
func readDocument(b bundle, name string) ([]byte, error) {
	f, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(raw) > maxDocument {
		err = problemf(ErrTooLarge, "%s has more than %d bytes, which is the limit", name, maxDocument)
	}
	return raw, err
}

// dirBundle is a directory.
type dirBundle struct{ root *os.Root }

func (d dirBundle) Close() error { return d.root.Close() }

func (d dirBundle) open(name string) (io.ReadCloser, error) {
	info, err := d.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait
		return nil, problemf(ErrUnsupported, "%s is no file", name)
	}
	return d.root.Open(name)
}

// tarBundle is an archive that can be read anywhere.
type tarBundle struct {
	file  *os.File
	parts map[string]part
}

// part is a file of an archive, or a link to another one.
type part struct {
	offset, size int64
	link         string
}

func (t *tarBundle) Close() error { return t.file.Close() }

func (t *tarBundle) open(name string) (io.ReadCloser, error) {
	name = path.Clean(name)
	for range maxLinks {
		p, ok := t.parts[name]
		if !ok {
			return nil, &fs.PathError{Op: "find in the archive", Path: name, Err: fs.ErrNotExist}
		}
		if p.link == "" {
			return io.NopCloser(io.NewSectionReader(t.file, p.offset, p.size)), nil
		}
		name = p.link
	}
	return nil, problemf(ErrHostile, "its file %q leads through more than %d links", name, maxLinks)
}

// index finds the files of an archive, without reading them.
func (t *tarBundle) index(ctx context.Context) error {
	archive := tar.NewReader(t.file)
	for range maxArchiveFiles {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return damaged(err)
		}
		if err := t.add(h); err != nil {
			return &Error{Entry: h.Name, Err: err}
		}
	}
	return problemf(ErrTooLarge, "the archive has more than %d files, which is the limit", maxArchiveFiles)
}

func (t *tarBundle) add(h *tar.Header) error {
	if len(h.Name) > maxName || len(h.Linkname) > maxName { // no image has its parts there
		return nil
	}
	name := path.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeReg:
		if isSparse(h) {
			return problemf(ErrUnsupported, "the archive is written with holes (tar --sparse), which archives of images are not")
		}
		at, err := t.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		t.parts[name] = part{offset: at, size: h.Size}
	case tar.TypeLink:
		t.parts[name] = part{link: path.Clean(h.Linkname)}
	case tar.TypeSymlink: // docker save wrote layers that it had written before so
		t.parts[name] = part{link: path.Join(path.Dir(name), h.Linkname)} //nolint:gosec // it is looked up in parts and opens nothing
	}
	return nil
}

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if _, ok := strings.CutPrefix(key, "GNU.sparse."); ok {
			return true
		}
	}
	return false
}

// openBundle opens what is to be imported. An archive that is compressed, or
// comes through a pipe, is written to the directory of work first.
func (s *Store) openBundle(ctx context.Context, file string, w *work) (bundle, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		dir, err := os.OpenRoot(file)
		return dirBundle{dir}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	plain, err := isPlain(f, info)
	if err == nil && !plain {
		f, err = s.spool(ctx, f, w)
	}
	t := &tarBundle{file: f, parts: map[string]part{}}
	if err == nil {
		err = t.index(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// isPlain tells whether an archive can be read as it is.
func isPlain(f *os.File, info fs.FileInfo) (bool, error) {
	if !info.Mode().IsRegular() {
		return false, nil
	}
	magic := make([]byte, 4)
	n, err := f.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	magics := []string{gzipMagic, zstdMagic, bzip2Magic, xzMagic}
	return !slices.ContainsFunc(magics, func(m string) bool { return begins(magic[:n], m) }), nil
}

// spool decompresses an archive into a file. It returns one to close in any case.
func (s *Store) spool(ctx context.Context, f *os.File, w *work) (*os.File, error) {
	plain, err := decompress(&contextReader{ctx, f})
	if err != nil {
		return f, err
	}
	to, err := w.dir.OpenFile("archive", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, errors.Join(err, plain.Close())
	}
	limit := s.options.Limits.Bytes
	n, err := io.Copy(to, io.LimitReader(plain, limit+1))
	if err == nil && n > limit {
		err = problemf(ErrTooLarge, "the archive has more than %d bytes when decompressed, which is the limit", limit)
	}
	err = errors.Join(err, plain.Close(), f.Close())
	if err == nil {
		_, err = to.Seek(0, io.SeekStart)
	}
	if err != nil {
		return to, fmt.Errorf("decompress the archive: %w", err)
	}
	return to, nil
}
