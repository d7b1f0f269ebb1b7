package image

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Import takes the images of an OCI layout, a directory or an archive of one, or
// of an archive that docker save has written. Archives may be compressed, and may
// come through a pipe such as /dev/stdin. Without as, all images for this machine
// are taken, under the names that they have there; an image that has none is
// found by its digest, until [Store.GC]. With it, one image is taken and called
// so: the only one, or the one of that name.
func (s *Store) Import(ctx context.Context, file, as string) (images []Image, err error) {
	label := file
	if as != "" {
		if _, err := parse(as); err != nil {
			return nil, err
		}
		label = as
	}
	w, err := s.scratch(ctx)
	if err != nil {
		return nil, s.about(label, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	found, err := s.openBundle(ctx, file, w)
	if err != nil {
		return nil, s.about(label, err)
	}
	defer found.Close()
	candidates, err := candidates(ctx, found)
	if err == nil {
		candidates, err = selected(candidates, as)
	}
	if err != nil {
		return nil, s.about(label, err)
	}
	return s.addAll(ctx, file, candidates)
}

// addAll adds the candidates that are for this machine; one must be.
func (s *Store) addAll(ctx context.Context, file string, candidates []candidate) (images []Image, err error) {
	var foreign error
	for _, c := range candidates {
		if c.label == "" {
			c.label = file
		}
		img, err := s.add(ctx, c)
		if errors.Is(err, ErrPlatform) {
			foreign = err
			continue
		}
		if err != nil {
			return images, err
		}
		images = append(images, img)
	}
	if len(images) == 0 {
		return nil, foreign
	}
	return images, nil
}

// candidates are the images of a bundle.
func candidates(ctx context.Context, b bundle) ([]candidate, error) {
	index, err := readDocument(b, "index.json")
	if err == nil {
		return layoutCandidates(ctx, b, index)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	saved, err := readDocument(b, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problemf(ErrUnsupported, "it is neither an OCI layout (index.json) nor from docker save (manifest.json); a root file system is imported with --rootfs")
	}
	if err != nil {
		return nil, err
	}
	return savedCandidates(ctx, b, saved)
}

// selected applies the name that the caller wants.
func selected(all []candidate, as string) ([]candidate, error) {
	if as == "" {
		return all, nil
	}
	wanted, err := parse(as)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c candidate) bool { return slices.Contains(c.names, wanted.Name()) })
	if i < 0 && len(all) > 1 {
		var offered []string
		for _, c := range all {
			offered = append(offered, c.names...)
		}
		return nil, problemf(ErrNotFound, "there are %d images in it, and none of that name; it has: %s", len(all), strings.Join(offered, ", "))
	}
	c := all[max(i, 0)]
	c.label, c.names = as, []string{wanted.Name()}
	return []candidate{c}, nil
}

// named gives a candidate the names among texts that are ones, and a label.
func (c *candidate) named(texts ...string) {
	for _, text := range texts {
		ref, err := parse(text)
		if text == "" || err != nil || slices.Contains(c.names, ref.Name()) {
			continue
		}
		c.names = append(c.names, ref.Name())
		if c.label == "" {
			c.label = text
		}
	}
}

// layoutBlobs are the blobs of an OCI layout.
type layoutBlobs struct{ bundle }

func (l layoutBlobs) blob(_ context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	f, err := l.open("blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problemf(ErrCorrupt, "the layout has no blob %s", d.Digest)
	}
	return f, err
}

// layoutCandidates are the images of an OCI layout that are for this machine.
func layoutCandidates(ctx context.Context, b bundle, index []byte) ([]candidate, error) {
	entries, err := entriesOf(index)
	if err != nil {
		return nil, err
	}
	if entries == nil {
		return nil, problemf(ErrNotFound, "its index.json names no image")
	}
	fits, err := choose(entries)
	if err != nil {
		return nil, err
	}
	var all []candidate
	left := maxManifests
	for _, entry := range fits {
		if len(all) > 0 && variant(entry) != "" {
			continue // of an image that is there already, for newer processors
		}
		blobs := layoutBlobs{b}
		manifest, err := resolve(func(digest v1.Hash) ([]byte, error) {
			if digest == (v1.Hash{}) {
				digest = entry.Digest
			}
			return readManifest(ctx, blobs, digest)
		})
		if err != nil {
			return nil, err
		}
		if left -= len(manifest); left < 0 {
			return nil, problemf(ErrTooLarge, "its manifests have more than %d bytes together", maxManifests)
		}
		c := candidate{manifest: manifest, from: blobs}
		c.named(entry.Annotations["io.containerd.image.name"], fullName(entry.Annotations["org.opencontainers.image.ref.name"]))
		all = append(all, c)
	}
	return all, nil
}

// fullName is empty for a mere tag, which is what the specification asks for, and
// no name for an image that is kept beside others.
func fullName(name string) string {
	if strings.ContainsAny(name, ":/") {
		return name
	}
	return ""
}

// readManifest reads a document of a layout and compares its digest. Indexes do
// not have to tell the truth about its size.
func readManifest(ctx context.Context, from blobs, digest v1.Hash) ([]byte, error) {
	f, err := from.blob(ctx, v1.Descriptor{Digest: digest})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, err
	}
	hash, err := v1.Hasher(digest.Algorithm)
	if err != nil {
		return nil, problemf(ErrUnsupported, "its digest is of a kind that is not known: %q", digest)
	}
	hash.Write(raw)
	if got := hashOf(digest.Algorithm, hash); got != digest && len(raw) <= maxDocument {
		return nil, problemf(ErrCorrupt, "the digest of its manifest is %s and should be %s", got, digest)
	}
	return raw, nil
}
