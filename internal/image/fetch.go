package image

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// attempts is how often a blob is asked for whose transfer breaks off. The client
// of registries waits and tries again where no transfer begins.
const attempts = 3

// sink takes a blob, and can begin anew.
type sink interface {
	io.Writer
	reset() error
}

// fetchBlob writes a blob and compares size and digest. m may be nil.
func fetchBlob(ctx context.Context, from blobs, d v1.Descriptor, to sink, m *meter) error {
	var broken *brokenTransfer
	for attempt := 1; ; attempt++ {
		n, err := copyBlob(ctx, from, d, to, m)
		if attempt == attempts || ctx.Err() != nil || !errors.As(err, &broken) {
			return err
		}
		if m != nil {
			m.add(-n)
		}
		if err := to.reset(); err != nil {
			return err
		}
	}
}

// brokenTransfer is an error that another attempt may not meet.
type brokenTransfer struct{ err error }

func (b *brokenTransfer) Error() string { return fmt.Sprintf("the transfer broke off: %v", b.err) }
func (b *brokenTransfer) Unwrap() error { return b.err }

func copyBlob(ctx context.Context, from blobs, d v1.Descriptor, to io.Writer, m *meter) (int64, error) {
	hash, err := v1.Hasher(d.Digest.Algorithm)
	if err != nil {
		return 0, problemf(ErrUnsupported, "its digest is of a kind that is not known: %q", d.Digest)
	}
	blob, err := from.blob(ctx, d)
	if err != nil {
		return 0, err
	}
	defer blob.Close()
	source := &sourceReader{r: blob}
	var r io.Reader = &contextReader{ctx, io.LimitReader(source, d.Size+1)}
	if m != nil {
		r = m.reader(r)
	}
	n, err := io.Copy(io.MultiWriter(to, hash), r)
	switch got := hashOf(d.Digest.Algorithm, hash); {
	case n == d.Size && got == d.Digest:
		return n, nil
	case err != nil && source.err == nil:
		return n, err
	case n < d.Size:
		return n, &brokenTransfer{errors.Join(source.err, problemf(ErrCorrupt, "%d bytes of %d have arrived", n, d.Size))}
	case n > d.Size:
		return n, problemf(ErrCorrupt, "more than the promised %d bytes have arrived", d.Size)
	default:
		return n, problemf(ErrCorrupt, "its digest is %s and should be %s", got, d.Digest)
	}
}

func hashOf(algorithm string, h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: algorithm, Hex: hex.EncodeToString(h.Sum(nil))}
}

// sourceReader remembers what went wrong where a blob came from, which is not
// what goes wrong where it is written.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// contextReader ends when its context does.
type contextReader struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to be called off
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
