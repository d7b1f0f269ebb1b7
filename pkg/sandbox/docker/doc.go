// Package docker runs programs in containers of Docker Engine, 20.10 and later, or
// of Podman by its compatible socket.
//
// All that is asked of the engine is a container whose first process is init of
// [guest], and its standard streams; files, programs, signals and figures go through
// those. So nothing of the host is mounted, no program of the image is needed, and an
// engine on another machine serves as well. A network that leads out alone takes one on
// this machine: a relay of ours is in the container's network namespace.
//
// Init and the sandbox's user come by an image of ours on top of the one that is
// asked for, made once for each: see prepare.go. What is kept for containers, such as
// build caches, comes by another one on top of that: see kept.go.
//
// A container whose client is gone ends by itself, since its standard input does; what
// is left of it is removed by the next start.
package docker
