// Package netns makes a network namespace in which everything that a program
// connects to ends at listeners of ours.
//
// The namespace has one interface, lo, and nothing leads out of it. Every
// address is routed to lo, so that a connection to anywhere arrives in the same
// namespace; rules of nftables hand it to one listener, whatever its port. The
// listener and the name server's socket are made inside and served from outside:
// a socket belongs to the namespace that it was made in, whoever holds its
// descriptor.
//
//	 namespace of the container                    our own
//	┌──────────────────────────────────┐
//	│ program ──connect──▶ lo ──tproxy─┼─▶ accept ─▶ relay ──dial──▶ world
//	│    └──ask──▶ udp/53, tcp/53 ─────┼─▶ name server
//	└──────────────────────────────────┘
//
// A threaded program cannot enter another user namespace, and an ordinary user's
// container is in one. So the sockets are made by the container's init, from
// [Socket] values, and handed out (SCM_RIGHTS), or as root by a thread that goes there
// for it ([Socket.Make]); two of them are netlink sockets,
// through which we configure the namespace from here. The kernel wants
// CAP_NET_ADMIN over the namespace from whoever made the socket and from whoever
// sends: an init has it before it enters the programs' user namespace, and we
// have it as root, or as the owner of the user namespace that the container was
// made in.
//
// Where nftables has no tproxy, listeners on chosen ports are what is left
// ([ListenSockets] with ports): a connection to another one is refused by the
// kernel, and nobody hears of it.
//
// Linux only; elsewhere there are the names of settings, and nothing else.
package netns
