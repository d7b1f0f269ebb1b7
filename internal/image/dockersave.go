package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// saved is an image of docker save.
type saved struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// savedBlobs are the files of docker save, which are not named by what is in
// them, by their digests.
type savedBlobs struct {
	bundle
	files map[v1.Hash]string
	known map[string]v1.Descriptor
}

func (s *savedBlobs) blob(_ context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	return s.open(s.files[d.Digest])
}

// savedCandidates are the images of docker save. It writes no manifests, so each
// gets one that is the same whenever the same files are imported.
func savedCandidates(ctx context.Context, b bundle, raw []byte) ([]candidate, error) {
	var images []saved
	if err := json.Unmarshal(raw, &images); err != nil {
		return nil, problemf(ErrCorrupt, "its manifest.json cannot be read: %v", err)
	}
	if len(images) == 0 {
		return nil, problemf(ErrNotFound, "its manifest.json names no image")
	}
	if len(images) > maxImages || slices.ContainsFunc(images, func(i saved) bool { return len(i.RepoTags) > maxTags }) {
		return nil, problemf(ErrTooLarge, "its manifest.json has more than %d images, or more than %d names for one, which are the limits", maxImages, maxTags)
	}
	blobs := &savedBlobs{b, map[v1.Hash]string{}, map[string]v1.Descriptor{}}
	var all []candidate
	for _, img := range images {
		manifest, err := blobs.manifest(ctx, img)
		if err != nil {
			return nil, err
		}
		c := candidate{manifest: manifest, from: blobs}
		c.named(img.RepoTags...)
		all = append(all, c)
	}
	return all, nil
}

// manifest makes a manifest of what docker save says of an image.
func (s *savedBlobs) manifest(ctx context.Context, img saved) ([]byte, error) {
	if len(img.Layers) > maxLayers {
		return nil, problemf(ErrTooLarge, "it has %d layers; the limit is %d", len(img.Layers), maxLayers)
	}
	config, err := s.describe(ctx, img.Config)
	if err != nil {
		return nil, err
	}
	config.MediaType = types.DockerConfigJSON
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2, Config: config}
	for _, name := range img.Layers {
		layer, err := s.describe(ctx, name)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, layer)
	}
	return json.Marshal(m)
}

// describe computes size and digest of a file, once.
func (s *savedBlobs) describe(ctx context.Context, name string) (v1.Descriptor, error) {
	if d, ok := s.known[name]; ok {
		return d, nil
	}
	f, err := s.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = problemf(ErrCorrupt, "its file %q is missing", name)
	}
	if err != nil {
		return v1.Descriptor{}, err
	}
	defer f.Close()
	digest, size, err := v1.SHA256(&contextReader{ctx, f})
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("read its file %q: %w", name, err)
	}
	d := v1.Descriptor{MediaType: types.DockerLayer, Digest: digest, Size: size}
	s.files[digest], s.known[name] = name, d
	return d, nil
}
