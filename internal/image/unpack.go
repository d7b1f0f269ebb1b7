package image

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// unpacker puts layers over one another in a directory. After an error what it
// has made is of no use, and can be removed like anything else.
type unpacker struct {
	ctx    context.Context //nolint:containedctx // of one image, from the first layer to the last
	limits Limits
	tree   *tree

	layers  int
	bytes   int64
	files   int64
	leftOut LeftOut
	// sent and scanned count what comes out of decompression, when layers are
	// unpacked and when they are searched for whiteouts.
	sent, scanned int64
	searched      int64 // entries
	last          lastBlock
	buffer        []byte
}

func newUnpacker(ctx context.Context, root *os.Root, limits Limits) *unpacker {
	u := &unpacker{ctx: ctx, limits: limits, buffer: make([]byte, 64<<10)}
	u.tree = &tree{root: root, limits: limits, made: u.countFile}
	return u
}

func (u *unpacker) close() {
	u.tree.forget()
	u.tree.root.Close()
}

// layer unpacks a layer over what is there. It is read twice, because what a
// layer removes is of the layers below, wherever in the archive that stands.
func (u *unpacker) layer(blob io.ReadSeeker, diffID v1.Hash, m *meter) error {
	if u.layers > 0 {
		if _, err := u.read(blob, "", &u.scanned, u.hide); err != nil {
			return err
		}
		if _, err := blob.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	got, err := u.stream(m.reader(blob), diffID.Algorithm)
	if err == nil && got != diffID {
		err = problemf(ErrCorrupt, "unpacked, its digest is %s and should be %s", got, diffID)
	}
	return err
}

// stream unpacks an archive as the next layer, with no regard for what it removes
// below, and returns its digest.
func (u *unpacker) stream(r io.Reader, algorithm string) (v1.Hash, error) {
	u.layers++
	return u.read(r, algorithm, &u.sent, u.place)
}

// read calls each with every entry of a layer. Unless algorithm is empty, it
// returns the digest of the archive, to its last byte.
func (u *unpacker) read(blob io.Reader, algorithm string, count *int64, each func(*tar.Header, io.Reader) error) (v1.Hash, error) {
	plain, err := decompress(blob)
	if err != nil {
		return v1.Hash{}, err
	}
	defer plain.Close()
	var r io.Reader = &countedReader{&contextReader{u.ctx, plain}, count, u.limits.Bytes}
	var digest hash.Hash
	if algorithm != "" {
		if digest, err = v1.Hasher(algorithm); err != nil {
			return v1.Hash{}, problemf(ErrUnsupported, "its diff-id is of a kind that is not known: %q", algorithm)
		}
		r = io.TeeReader(r, io.MultiWriter(digest, &u.last))
	}
	if err := entries(tar.NewReader(r), each); err != nil {
		return v1.Hash{}, err
	}
	if digest == nil {
		return v1.Hash{}, nil
	}
	// Tools fill the last block up, and the digest is of that, too.
	if _, err := io.CopyBuffer(io.Discard, r, u.buffer); err != nil {
		return v1.Hash{}, damaged(err)
	}
	return hashOf(algorithm, digest), nil
}

func entries(archive *tar.Reader, each func(*tar.Header, io.Reader) error) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if err := each(header, archive); err != nil {
			return &Error{Entry: header.Name, Err: err}
		}
	}
}

// damaged says that an archive cannot be read, unless err says something else.
func damaged(err error) error {
	for _, other := range []error{ErrTooLarge, ErrCorrupt, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return problemf(ErrTooLarge, "decompressing it needs more memory than %d bytes, which is the limit", maxWindow)
	}
	var system *os.PathError
	if errors.As(err, &system) {
		return err
	}
	return problemf(ErrCorrupt, "its archive cannot be read: %v", err)
}

// What compressed data begins with.
const (
	gzipMagic  = "\x1f\x8b"
	zstdMagic  = "\x28\xb5\x2f\xfd"
	bzip2Magic = "BZh"
	xzMagic    = "\xfd7zX"
)

// decompress finds out how a layer is compressed, whatever its type says, as
// registries and engines have always mixed that up.
func decompress(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	magic, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case begins(magic, gzipMagic):
		plain, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, damaged(err)
		}
		return plain, nil
	case begins(magic, zstdMagic):
		plain, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, damaged(err)
		}
		return plain.IOReadCloser(), nil
	case begins(magic, bzip2Magic), begins(magic, xzMagic):
		return nil, problemf(ErrUnsupported, "it is compressed with bzip2 or xz; images have gzip, zstd or nothing")
	}
	return io.NopCloser(buffered), nil
}

func begins(data []byte, magic string) bool {
	return len(data) >= len(magic) && string(data[:len(magic)]) == magic
}

// countedReader ends with an error when more has been read than may be.
type countedReader struct {
	r     io.Reader
	count *int64
	limit int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if *c.count += int64(n); *c.count > c.limit {
		return 0, problemf(ErrTooLarge, "all layers together have more than %d bytes when decompressed, which is the limit", c.limit)
	}
	return n, err
}

// lastBlock is the end of what was written to it. Archives end with blocks of
// zeros; the reader of archives takes one that breaks off between two entries for
// whole.
type lastBlock [512]byte

func (l *lastBlock) Write(p []byte) (int, error) {
	tail := p[max(len(p)-len(l), 0):]
	copy(l[:], l[len(tail):])
	copy(l[len(l)-len(tail):], tail)
	return len(p), nil
}

// countFile counts what is made.
func (u *unpacker) countFile() error { return u.count(&u.files) }

func (u *unpacker) count(entries *int64) error {
	if *entries++; *entries > u.limits.Files {
		return problemf(ErrTooLarge, "all layers together have more than %d entries, which is the limit", u.limits.Files)
	}
	return nil
}

// mountPoints are where runtimes mount or write before a program starts. A link
// there has led runtimes out of their image (runc CVE-2026-41579).
var mountPoints = map[string]os.FileMode{
	"dev": 0o755, "etc": 0o755, "proc": 0o755, "sys": 0o755, "tmp": 0o777 | os.ModeSticky,
}

// complete makes sure that the directories are there that runtimes mount on.
func (u *unpacker) complete() error {
	u.tree.forget()
	for name, mode := range mountPoints {
		info, err := u.tree.root.Lstat(name)
		if errors.Is(err, os.ErrNotExist) {
			if err = u.tree.root.Mkdir(name, 0o700); err == nil {
				err = chmod(u.tree.root, name, mode)
			}
		} else if err == nil && !info.IsDir() {
			err = problemf(ErrHostile, "its /%s is no directory (%s), so nothing can be mounted there", name, info.Mode().Type())
		}
		if err != nil {
			return fmt.Errorf("complete its root directory: %w", err)
		}
	}
	return nil
}
