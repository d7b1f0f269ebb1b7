// Package guest runs processes in a container that somebody else has made: an
// engine, an OCI runtime, another machine. All that it needs of the container is
// that init of [spawn] is its first process, started with [spawn.StreamArgs], and
// a byte stream to and from it.
//
//	engine's stream ──▶ init (pid 1, the sandbox's user) ──clone──▶ program
//	                ◀── records and what programs write
//
// Init decides nothing: it makes the system calls that are written here. So files
// go in and out, programs start and end, and figures are read the same way in
// every container, without a shell or any other program in its image, and without
// a mount of the host.
//
// Init and the programs have the same user and no capability. Init has given up
// being dumpable before the first program starts, so that none can trace it or
// reach its descriptors; being the first process it cannot be killed from inside.
// What it says is believed as little as what a program says: answers have the size
// that was asked for, and all that they tell is about the container itself.
package guest
