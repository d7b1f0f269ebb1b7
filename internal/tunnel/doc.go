// Package tunnel carries a container between two servers of ours: the near one
// uses it as a [sandbox.Container], the far one has it.
//
// There is one WebSocket connection for each container, and the container lives no
// longer than that. A message is a frame:
//
//	kind (1 byte) | channel (1) | call (4, big endian) | body
//
// The near side opens calls, each with a number above the last one's and a
// [Request] in JSON. The far side answers each with an [Answer], and, where there is
// something to tell before the end (a process has started, a file is open), with
// another one before that:
//
//	near                                  far
//	open   call 7 {"op":"start",…}  ──▶   starts the program
//	                                ◀──   begun  call 7 {}
//	data   call 7 channel 0         ──▶   standard input
//	                                ◀──   data   call 7 channel 1, 2: its output
//	credit call 7 channel 1         ──▶   more of it may come
//	end    call 7 channel 0         ──▶   end of the input
//	                                ◀──   done   call 7 {"exit":{…}}
//
// Bytes travel in channels, 0 to the far side, 1 and 2 to the near one. Each has
// credit: what its reader has not taken is never more than [Window], and a side that
// sends more is hung up on. So a writer that blocks slows the far program down, and
// nothing else: who reads the connection never waits for anybody. Both sides send a
// sign of life, and take long silence for a broken connection.
//
// Either side may be hostile. Every length has a bound, the number of calls too, and
// what is not understood ends the connection. Names and arguments are bytes, not
// text: programs name files as they like. Requests are read strictly, so that a far
// side that is older says so, rather than leave out a limit that it does not know;
// answers may grow.
package tunnel
