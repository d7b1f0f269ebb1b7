// Package relay decides what a container may reach, and carries its connections
// there. It is the only way out: the container's own network leads nowhere but
// here.
//
//	program              relay                                    world
//	  │ ask for a name ──▶ allowed? look it up
//	  │ ◀── made-up address of 198.18.0.0/15
//	  │ connect ─────────▶ made-up address → name; port allowed?
//	  │                    look the name up, check each address ──▶ connect
//	  │ ◀─────────────────────── bytes, both ways ───────────────▶
//
// A program never learns a real address of a name, so what it connects to has a
// name that was decided on, and a refusal says which. Nothing that it sends to a
// name server is passed on: we ask for addresses of names, in words of our own.
// The address that a name has outside is checked when it is connected to, so a
// name that changes its address in between gains nothing.
//
// Without exception a refusal is quick: a name is REFUSED, a connection is reset.
// Each is a line of [Report.Violations].
//
// The package needs nothing of the kernel. Listeners come from whoever made the
// container's network; how they learn what a program has connected to is theirs
// ([Config.Destination]).
package relay
