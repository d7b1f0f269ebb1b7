// Package oci runs programs in containers of an OCI runtime: runc, crun, youki, or
// one with a kernel of its own, gVisor's runsc and Kata's. Nothing but the
// runtime's program is needed: no daemon and no image store.
//
// For each container a bundle is written, and the runtime is started with init of
// [guest] as the container's first process, whose standard streams are ours. All
// else goes through those. The root is the host's toolchains, or an image that was
// unpacked before, read-only and by overlays where the runtime shares our kernel.
// What programs write is one tmpfs with the disk limit, mounted in a mount
// namespace that the runtime is started in, so that it is gone with the container
// and never a mount of the host.
//
// A network that leads out is one that we have made and the runtime is told the path
// of, with a relay of ours in it (package outlet).
//
// The runtime needs root: it gives each container two user ids of our range in a
// user namespace, one for nobody and one for init and the programs.
package oci
