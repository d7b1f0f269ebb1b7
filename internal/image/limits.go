package image

import "cmp"

// Limits bound what an image may take when it is unpacked. Zero is the default.
type Limits struct {
	// Bytes are those of all files of all layers, holes and what later layers
	// replace included: 16 GiB. Archives and layers as they were sent must not
	// be larger either.
	Bytes int64
	// Files are all entries of all layers: 1,000,000.
	Files int64
	// PathBytes are those of a name within the image, after links were followed,
	// and of what a link points to: 4096, as Linux has it.
	PathBytes int
	// Depth is how many directories may be inside one another: 256. Whoever
	// removes a tree has a descriptor open for each level.
	Depth int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Bytes:     cmp.Or(l.Bytes, 16<<30),
		Files:     cmp.Or(l.Files, 1_000_000),
		PathBytes: cmp.Or(l.PathBytes, 4096),
		Depth:     cmp.Or(l.Depth, 256),
	}
}

const (
	// maxDocument bounds manifests, indexes and configurations, which are held in
	// memory. Registries accept 4 MiB.
	maxDocument = 4 << 20
	// maxLayers is far above the 127 of Docker.
	maxLayers = 512
	// maxLinks is how many symbolic links a name may lead through, as in Linux.
	maxLinks = 40
	// maxName is NAME_MAX of Linux.
	maxName = 255
	// maxArchiveFiles bounds the files of an archive that holds images.
	maxArchiveFiles = 100_000
	// maxImages bounds the images of one archive or index, and maxTags the names that
	// an archive gives to one of them.
	maxImages = 1000
	maxTags   = 100
	// maxManifests bounds the manifests of an archive's images together, in bytes: those of
	// images are a few thousand each.
	maxManifests = 4 * maxDocument
	// maxEnv bounds what all variables of an image take, each with a pointer to it:
	// Linux starts no program with a longer one, and the sandbox none with much more.
	maxEnv = 128 << 10
	// maxQuote is how much of the beginning and of the end of a sentence is shown.
	maxQuote = 500
	// maxLeftOut is how many of the entries that were left out are named.
	maxLeftOut = 100
	// maxWindow is what zstd may ask us to remember: that of its --long=27.
	maxWindow = 128 << 20
)
