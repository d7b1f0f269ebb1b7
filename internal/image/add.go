package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"
)

// blobs is where the parts of an image come from. Nothing of it is trusted: who
// reads compares digests.
type blobs interface {
	blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error)
}

// candidate is an image that somebody offers.
type candidate struct {
	label    string   // what it is called in errors and progress
	names    []string // full ones, that it shall have
	manifest []byte
	from     blobs
}

// parallel is how many layers are fetched at once.
const parallel = 3

// add makes an image of a candidate, unless it is there.
func (s *Store) add(ctx context.Context, c candidate) (Image, error) {
	info, err := s.addOnce(ctx, c)
	return info, s.about(c.label, err)
}

func (s *Store) addOnce(ctx context.Context, c candidate) (Image, error) {
	digest := sha256Of(c.manifest)
	for {
		w, err := s.claim(ctx, digest)
		if err != nil {
			return Image{}, err
		}
		if w != nil {
			return s.build(ctx, w, digest, c)
		}
		if info, err := s.reuse(ctx, digest, c.names); err != nil || info.Digest != "" {
			return info, err
		}
	}
}

// reuse names an image that is there. It returns none when somebody has removed
// it meanwhile.
func (s *Store) reuse(ctx context.Context, digest v1.Hash, names []string) (Image, error) {
	var info Image
	err := s.locked(ctx, func() (err error) {
		if s.has(digest) {
			info, err = s.addNames(digest, names)
		}
		return err
	})
	return info, err
}

// build fetches and unpacks a candidate in a directory of work, and gives that
// back.
func (s *Store) build(ctx context.Context, w *work, digest v1.Hash, c candidate) (info Image, err error) {
	defer func() {
		if closing := w.close(); err == nil {
			err = closing
		}
	}()
	manifest, err := s.parseManifest(c.manifest)
	if err != nil {
		return Image{}, err
	}
	config, diffIDs, err := s.config(ctx, c, manifest)
	if err != nil {
		return Image{}, err
	}
	var total int64
	for _, layer := range manifest.Layers {
		total += layer.Size
	}
	m := newMeter(s.options.Progress, c.label, total)
	if err := w.fetch(ctx, c.from, manifest.Layers, m); err != nil {
		return Image{}, err
	}
	m.start(Unpack)
	u, err := w.unpacker(ctx)
	if err != nil {
		return Image{}, err
	}
	defer u.close()
	for i, layer := range manifest.Layers {
		if err := w.unpack(u, i, layer, diffIDs[i], m); err != nil {
			return Image{}, locate(err, i+1, len(manifest.Layers), layer.Digest)
		}
	}
	if err := u.complete(); err != nil {
		return Image{}, err
	}
	return w.finish(ctx, digest, u.info(digest, config), c.names)
}

// info describes what was unpacked.
func (u *unpacker) info(digest v1.Hash, config Config) Image {
	return Image{
		Digest: digest.String(), Config: config, Added: time.Now().UTC(),
		Layers: u.layers, Bytes: u.bytes, Files: u.files, LeftOut: u.leftOut,
	}
}

// locate says in which layer an error was.
func locate(err error, layer, layers int, digest v1.Hash) error {
	at, ok := err.(*Error) //nolint:errorlint // ours alone is extended, never one that it holds
	if !ok {
		at = &Error{Err: err}
	}
	at.Layer, at.Layers, at.Digest = layer, layers, digest.String()
	return at
}

// parseManifest reads a manifest and refuses what is no image, or one too large
// to begin with.
func (s *Store) parseManifest(raw []byte) (*v1.Manifest, error) {
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, problemf(ErrCorrupt, "its manifest cannot be read: %v", err)
	}
	if !m.Config.MediaType.IsConfig() {
		return nil, problemf(ErrUnsupported, "it is no container image: its configuration is of type %q", m.Config.MediaType)
	}
	left := s.options.Limits.Bytes
	for i, layer := range m.Layers {
		var err error
		if !layer.MediaType.IsLayer() {
			err = problemf(ErrUnsupported, "it is of type %q, which is not unpacked", layer.MediaType)
		} else if left -= layer.Size; layer.Size < 0 || left < 0 {
			err = problemf(ErrTooLarge, "it claims %d bytes; the limit for all layers together is %d", layer.Size, s.options.Limits.Bytes)
		}
		if err != nil {
			return nil, locate(err, i+1, len(m.Layers), layer.Digest)
		}
	}
	return &m, nil
}

// config fetches the configuration of an image.
func (s *Store) config(ctx context.Context, c candidate, m *v1.Manifest) (Config, []v1.Hash, error) {
	if m.Config.Size > maxDocument {
		return Config{}, nil, problemf(ErrTooLarge, "its configuration has %d bytes; the limit is %d", m.Config.Size, maxDocument)
	}
	var raw limitedBuffer
	if err := fetchBlob(ctx, c.from, m.Config, &raw, nil); err != nil {
		return Config{}, nil, fmt.Errorf("fetch its configuration: %w", err)
	}
	config, diffIDs, err := configOf(raw.data)
	if err == nil && len(diffIDs) != len(m.Layers) {
		err = problemf(ErrCorrupt, "its manifest has %d layers and its configuration has %d", len(m.Layers), len(diffIDs))
	}
	return config, diffIDs, err
}

// limitedBuffer holds a document, whose size was checked before.
type limitedBuffer struct{ data []byte }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	return len(p), nil
}

// reset empties it for another attempt.
func (b *limitedBuffer) reset() error {
	b.data = b.data[:0]
	return nil
}

func layerName(i int) string { return fmt.Sprintf("layer-%d", i+1) }

// fetch writes all layers into the directory of work.
func (w *work) fetch(ctx context.Context, from blobs, layers []v1.Descriptor, m *meter) error {
	m.start(Download)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, layer := range layers {
		group.Go(func() error {
			if err := w.fetchLayer(ctx, from, i, layer, m); err != nil {
				return locate(err, i+1, len(layers), layer.Digest)
			}
			return nil
		})
	}
	return group.Wait()
}

func (w *work) fetchLayer(ctx context.Context, from blobs, i int, layer v1.Descriptor, m *meter) error {
	f, err := w.dir.OpenFile(layerName(i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return fetchBlob(ctx, from, layer, fileSink{f}, m)
}

// fileSink is a file that can be begun anew.
type fileSink struct{ *os.File }

func (f fileSink) reset() error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// unpack puts a layer over those below it and removes what was fetched.
func (w *work) unpack(u *unpacker, i int, layer v1.Descriptor, diffID v1.Hash, m *meter) error {
	f, err := w.dir.Open(layerName(i))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := u.layer(f, diffID, m); err != nil {
		return err
	}
	return w.dir.Remove(layerName(i))
}

// unpacker begins a root file system.
func (w *work) unpacker(ctx context.Context) (*unpacker, error) {
	if err := w.dir.Mkdir(rootDir, 0o700); err != nil {
		return nil, err
	}
	if err := chmod(w.dir, rootDir, 0o755); err != nil {
		return nil, err
	}
	root, err := w.dir.OpenRoot(rootDir)
	if err != nil {
		return nil, err
	}
	return newUnpacker(ctx, root, w.store.options.Limits), nil
}

func sha256Of(raw []byte) v1.Hash {
	sum := sha256.Sum256(raw)
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])}
}

// rootPath is where the root of a finished image is.
func (s *Store) rootPath(digest v1.Hash) string {
	return filepath.Join(s.dir, imagePath(digest), rootDir)
}
