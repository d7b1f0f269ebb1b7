package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// minPrefix is how much of a digest names an image, as engines show it.
const minPrefix = 12

// parse reads a reference as engines do: "python" is
// index.docker.io/library/python:latest.
func parse(ref string) (name.Reference, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return nil, problemf(ErrName, "%q names no image: %v; write it as python:3.12, ghcr.io/owner/name:tag or name@sha256:digest", ref, err)
	}
	return r, nil
}

// familiar is a name as people write it.
func familiar(full string) string {
	short, official := strings.CutPrefix(full, name.DefaultRegistry+"/library/")
	if official {
		return short
	}
	return strings.TrimPrefix(full, name.DefaultRegistry+"/")
}

// names reads what images are called: digests by full names.
func (s *Store) names() (map[string]v1.Hash, error) {
	raw, err := s.root.ReadFile(namesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]v1.Hash{}, nil
	}
	names := map[string]v1.Hash{}
	if err == nil {
		err = json.Unmarshal(raw, &names)
	}
	if err != nil {
		return nil, fmt.Errorf("read the names of images: %w", err)
	}
	return names, nil
}

// writeNames replaces them. The caller holds the store's lock.
func (s *Store) writeNames(names map[string]v1.Hash) error {
	raw, err := json.MarshalIndent(names, "", "\t")
	if err != nil {
		return err
	}
	const next = namesFile + ".new"
	f, err := s.root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the names of images: %w", err)
	}
	return s.root.Rename(next, namesFile)
}

// addNames gives names to an image, full ones, and returns what is known of it.
// The caller holds the store's lock.
func (s *Store) addNames(digest v1.Hash, full []string) (Image, error) {
	names, err := s.names()
	if err != nil {
		return Image{}, err
	}
	for _, n := range full {
		names[n] = digest
	}
	if err := s.writeNames(names); err != nil {
		return Image{}, err
	}
	return s.image(digest)
}

// find tells which image a reference means: a name, a digest, the first twelve
// digits of one or more. Its name is the one that was matched, if it was one.
func (s *Store) find(ref string) (digest v1.Hash, matched string, err error) {
	names, err := s.names()
	if err != nil {
		return v1.Hash{}, "", err
	}
	if parsed, err := parse(ref); err == nil {
		if digest, ok := names[parsed.Name()]; ok && s.has(digest) {
			return digest, parsed.Name(), nil
		}
		if d, ok := parsed.(name.Digest); ok {
			ref = d.DigestStr()
		}
	}
	digits := strings.TrimPrefix(ref, "sha256:")
	known, err := s.digests()
	if err != nil {
		return v1.Hash{}, "", err
	}
	var fits []v1.Hash
	for _, digest := range known {
		if _, ok := strings.CutPrefix(digest.Hex, digits); ok && len(digits) >= minPrefix {
			fits = append(fits, digest)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], "", nil
	case 0:
		return v1.Hash{}, "", problemf(ErrNotFound, "it is not here; pull or import it first")
	}
	return v1.Hash{}, "", problemf(ErrNotFound, "%d images begin with these digits; write more of them", len(fits))
}

// digests are those of all images that are complete.
func (s *Store) digests() ([]v1.Hash, error) {
	entries, err := fs.ReadDir(s.root.FS(), imagesDir)
	var all []v1.Hash
	for _, entry := range entries {
		all = append(all, v1.Hash{Algorithm: "sha256", Hex: entry.Name()})
	}
	return all, err
}

// namesOf are the familiar names of an image, sorted.
func namesOf(digest v1.Hash, names map[string]v1.Hash) []string {
	var own []string
	for _, full := range slices.Sorted(maps.Keys(names)) {
		if names[full] == digest {
			own = append(own, familiar(full))
		}
	}
	return own
}
