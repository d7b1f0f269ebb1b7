package image

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxIndexes is how many indexes may lead to one another.
const maxIndexes = 4

// resolve follows indexes to the manifest for this machine. get fetches a document
// by its digest and has compared it; the zero digest is what was asked for.
func resolve(get func(v1.Hash) ([]byte, error)) ([]byte, error) {
	var digest v1.Hash
	for range maxIndexes {
		raw, err := get(digest)
		if err != nil {
			return nil, err
		}
		entries, err := entriesOf(raw)
		if entries == nil || err != nil {
			return raw, err
		}
		fits, err := choose(entries)
		if err != nil {
			return nil, err
		}
		digest = fits[0].Digest
	}
	return nil, problemf(ErrHostile, "it is an index of indexes, %d deep", maxIndexes)
}

// document is what is common to manifests and indexes.
type document struct {
	MediaType string            `json:"mediaType"`
	Layers    []json.RawMessage `json:"layers"`
	Manifests []json.RawMessage `json:"manifests"`
	FSLayers  []json.RawMessage `json:"fsLayers"`
}

// entriesOf returns the entries of an index; none of a manifest. A document that
// is both means different things to different tools, and is refused
// (CVE-2021-41190).
func entriesOf(raw []byte) ([]v1.Descriptor, error) {
	if len(raw) > maxDocument {
		return nil, problemf(ErrTooLarge, "its manifest has %d bytes; the limit is %d", len(raw), maxDocument)
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, problemf(ErrCorrupt, "its manifest cannot be read: %v", err)
	}
	switch {
	case len(d.FSLayers) > 0:
		return nil, problemf(ErrUnsupported, "it is of the first kind of Docker images, which nobody makes any more: push it again")
	case d.Manifests != nil && d.Layers != nil:
		return nil, problemf(ErrHostile, "its manifest says that it is an image and an index")
	case d.Manifests != nil && len(d.Manifests) == 0:
		return nil, problemf(ErrPlatform, "it is an index without images")
	case len(d.Manifests) > maxImages:
		return nil, problemf(ErrTooLarge, "it is an index of %d images; the limit is %d", len(d.Manifests), maxImages)
	case len(d.Layers) > maxLayers:
		return nil, problemf(ErrTooLarge, "it has %d layers; the limit is %d", len(d.Layers), maxLayers)
	}
	var entries []v1.Descriptor
	for _, raw := range d.Manifests {
		var entry v1.Descriptor
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, problemf(ErrCorrupt, "its manifest cannot be read: %v", err)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// choose returns the entries that are for this machine, the plainest first: a
// variant may need what this processor lacks. Entries that do not say are taken
// at their images' word.
func choose(entries []v1.Descriptor) ([]v1.Descriptor, error) {
	var fits []v1.Descriptor
	var offered []string
	for _, e := range entries {
		p := e.Platform
		switch {
		case p == nil || p.OS == "linux" && p.Architecture == runtime.GOARCH:
			fits = append(fits, e)
		case p.OS != "unknown": // attestations
			offered = append(offered, p.String())
		}
	}
	if len(fits) == 0 {
		slices.Sort(offered)
		return nil, problemf(ErrPlatform, "it is not offered for linux/%s, which this machine is, but for: %s",
			runtime.GOARCH, strings.Join(slices.Compact(offered), ", "))
	}
	slices.SortStableFunc(fits, func(a, b v1.Descriptor) int { return strings.Compare(variant(a), variant(b)) })
	return fits, nil
}

// variant is empty for the one that every processor has: v8 is all of arm64.
func variant(d v1.Descriptor) string {
	if d.Platform == nil || runtime.GOARCH == "arm64" && d.Platform.Variant == "v8" {
		return ""
	}
	return d.Platform.Variant
}
