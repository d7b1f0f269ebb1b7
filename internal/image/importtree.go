package image

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ImportTree makes an image of one layer of a root file system that is written as
// an archive, compressed or not, as docker import does. The archive is as little
// trusted as a layer. The same archive with the same configuration is the same
// image.
func (s *Store) ImportTree(ctx context.Context, ref string, archive io.Reader, config Config) (Image, error) {
	named, err := parse(ref)
	if err != nil {
		return Image{}, err
	}
	img, err := s.importTree(ctx, ref, named.Name(), archive, config)
	return img, s.about(ref, err)
}

func (s *Store) importTree(ctx context.Context, label, name string, archive io.Reader, config Config) (img Image, err error) {
	config.Architecture = runtime.GOARCH
	if err := config.check(); err != nil {
		return Image{}, err
	}
	w, err := s.scratch(ctx)
	if err != nil {
		return Image{}, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	m := newMeter(s.options.Progress, label, 0)
	m.start(Unpack)
	u, err := w.unpacker(ctx)
	if err != nil {
		return Image{}, err
	}
	defer u.close()
	diffID, err := u.stream(m.reader(archive), "sha256")
	if err == nil {
		err = u.whole()
	}
	if err == nil {
		err = u.complete()
	}
	if err != nil {
		return Image{}, err
	}
	digest, err := treeDigest(diffID, u.sent, config)
	if err != nil {
		return Image{}, err
	}
	return w.finish(ctx, digest, u.info(digest, config), []string{name})
}

// whole refuses what a broken pipe leaves of an archive: no digest tells it apart.
func (u *unpacker) whole() error {
	switch {
	case u.files == 0:
		return problemf(ErrUnsupported, "there is nothing in it")
	case u.last != lastBlock{}:
		return problemf(ErrCorrupt, "its archive breaks off before its end")
	}
	return nil
}

// treeDigest is the digest of the manifest that an image of this one layer has.
func treeDigest(diffID v1.Hash, size int64, config Config) (v1.Hash, error) {
	file := v1.ConfigFile{
		Architecture: config.Architecture, OS: "linux",
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diffID}},
		Config: v1.Config{
			Env: config.Env, Entrypoint: config.Entrypoint, Cmd: config.Cmd,
			User: config.User, WorkingDir: config.WorkingDir,
		},
	}
	raw, err := json.Marshal(file)
	if err != nil {
		return v1.Hash{}, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: v1.Descriptor{MediaType: types.OCIConfigJSON, Digest: sha256Of(raw), Size: int64(len(raw))},
		Layers: []v1.Descriptor{{MediaType: types.OCIUncompressedLayer, Digest: diffID, Size: size}},
	})
	return sha256Of(manifest), err
}
