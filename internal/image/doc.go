// Package image keeps container images without an engine: it pulls them from
// registries, imports OCI layouts and archives of docker save, and unpacks each
// into one directory that runtimes use as a root file system, read-only.
//
//	store, err := image.Open(filepath.Join(dataDir, "images"), image.Options{})
//	_, err = store.Pull(ctx, "python:3.12-slim")
//	lease, err := store.Acquire(ctx, "python:3.12-slim")
//	defer lease.Close()
//	run(lease.Root(), lease.Config)
//
// # On disk
//
//	lock             held while names.json changes and while images come and go
//	names.json       what images are called, and the digest that each name means
//	sha256/<digest>/ an image that is complete, by the digest of its manifest
//		image.json   what [Image] says
//		lock         shared by leases; whoever has it alone may remove the image
//		root/        all layers, one over the other
//	tmp/<anything>/  one in the making, with a lock that its maker holds
//
// An image is made in tmp and appears by a rename, so what is interrupted is
// never seen; whoever opens the store next removes what nobody holds. Locks are
// flock(2): processes may share a store, and two that pull the same image
// download it once. What is in an image never changes. Its directory belongs to
// the store's owner and nobody else can enter the store: programs get it mounted,
// read-only or as the lower layer of an overlay.
//
// # What is trusted
//
// Nothing that is in an image. Blobs are checked against their digests before
// they are parsed, and what comes out of a layer against its diff-id. Entries are
// unpacked through [os.Root], which cannot leave the directory whatever the links
// in it say; where a name leads is decided as in a chroot, one component at a
// time. Names with ".." are refused, absolute ones begin at the image's root.
// Devices and FIFOs are left out and listed. Set-id bits, extended attributes
// (file capabilities too) and owners are dropped, and all that is made belongs to
// the store's owner. [Limits] bound what an image may take. The directories that
// runtimes mount on (/dev, /proc, ...) are real directories, or the image is
// refused.
//
// It needs no privileges. It needs Linux: elsewhere [Open] says so.
package image
