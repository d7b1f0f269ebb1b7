// Package e2b runs containers in sandboxes of E2B, or of whatever else speaks its
// public protocol.
//
// A container is one sandbox of the service: a virtual machine, made from a
// template, that dies by itself when nobody prolongs its life. Two surfaces are
// spoken to, with the JSON forms of their messages:
//
//	control plane   REST, X-API-Key        create, look, prolong, network, delete
//	envd            in the sandbox, 49983  process.Process, filesystem.Filesystem
//	                                       (Connect), GET and POST /files
//
// # What is done inside
//
// The protocol knows neither limits nor a world inside. A script makes that world
// once ([setupScript]): a user of our own without a way to root, /workspace, /tmp
// and /dev/shm on one tmpfs with the disk limit, /build on another. A process is
// started through a second script ([launchScript]), which takes its limits, gives
// its environment up for exactly the one that was asked for, and says on standard
// error whether the program can be started before it becomes that program.
//
//	Start      as sandbox  launchScript ─▶ "+" or "-why" ─▶ exec program
//	beside it  as root     watchScript  ─▶ a line of figures each 50 ms
//	its end    as root     sweepScript  ─▶ kill -9 -1 as sandbox, until none is left
//
// The protocol kills one process, and a program may have started more. All of them
// have the user that nothing else has, so kill(-1) by that user reaches all at
// once; it is repeated until /proc shows none, because a program may kill the
// killer first, and root kills those that it sees. A sandbox in which that does not
// work is deleted. Signals are sent by a script too, not by SendSignal: that one
// misses the process group, and after it envd drops what the program still writes.
//
// A stream that breaks off ends its program, with an error that says it may be tried
// again. The protocol can take up a process anew (Connect), but not what it has
// written meanwhile, and a result must not lack that in silence.
//
// # What is not a boundary
//
// The walls are the service's, and this machine cannot look at them. Inside the
// sandbox, checks of paths race with programs that still run: what they can gain
// is to have us write to their own virtual machine. Nothing of the host is in it
// but what was uploaded. Whoever has the API key owns every sandbox.
package e2b
