// Package outlet leads a container's network out, through a relay in our own
// process, and is the only way out that the container has.
//
// An [Outlet] is the sockets that were made inside of the container's network
// namespace, and what its policy opens. Each process has a [Connection], which
// serves those sockets while it runs: nothing of one process is the next one's, and
// with nobody to serve them nothing leads anywhere.
//
// Who makes the sockets depends on who makes the namespace. A container's init does,
// where it is ours and no capability is left in it ([Outlet.Sockets], [Outlet.Open]).
// In the namespace of another's container a thread of ours makes them, which takes
// root ([Maker]).
//
// Linux only; elsewhere the package is empty.
package outlet
