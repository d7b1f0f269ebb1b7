// Package local is the runtime of this machine's own kernel: nothing to
// install, no daemon, as root or as an ordinary user.
//
// A container is a tiny init (package spawn) in namespaces of its own. Setting
// it up is a list of system calls, written here and made by that init:
//
//	runtime_linux.go    New, Probe, Create: which level works here
//	world_linux.go      the root: overlays, tmpfs, /dev, /proc, /etc, pivot
//	identity_linux.go   user namespaces and ids
//	container_linux.go  one container: start, delete
//	child_linux.go      what a program gives up before it is started
//	process_linux.go    one process: streams, limits, its end
//	filetree_linux.go   files in and out
//
// What this process holds, so that others can reclaim it, is in package instance.
//
// Levels: full has every wall; restricted does without namespaces (Landlock,
// seccomp, resource limits, a uid of its own where ids may be changed); none is
// a bare subprocess. See docs/SECURITY.md for what each is worth.
package local
