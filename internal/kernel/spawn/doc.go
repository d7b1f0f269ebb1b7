// Package spawn starts processes through a tiny init that interprets system
// calls.
//
// A large, threaded program such as this one must not fork: the copy is slow,
// and a process with threads may not enter a user namespace. So one small
// program without a libc (init.c, 13 KiB, one thread) does it. It decides
// nothing: a [Program] is a list of system calls that the Go side has written
// in full, and init makes them one after the other. Everything worth reviewing
// is therefore Go: what is mounted, which ids are taken, which filter is
// installed.
//
// The same program serves in two places, and a part of it in a third ([Program.Beget]): an
// interpreter that loads it as a library (ancestor.c) makes calls for the host, too, and forks
// itself into containers. The spawner is our child; the init of
// a container is a fork of the spawner, usually pid 1 of a pid namespace.
//
//	sandbox-run ──socket──▶ spawner ──clone──▶ init (pid 1) ──clone──▶ program
//	     │                                       ▲
//	     └────────────────socket─────────────────┘
//
// A socket is a SOCK_SEQPACKET pair; on init's side it is descriptor 3. A
// message, host to init, is one packet:
//
//	header   magic, seq, number of steps, relocations, files; size
//	steps    call number, flags, six arguments, what to do with the result
//	relocs   offsets of 64-bit words to which the message's address is added
//	cells    one int for each descriptor that came along (SCM_RIGHTS)
//	blob     strings and structures that arguments point to
//
// A record, init to host, is one packet of fixed size:
//
//	DONE    seq, pid        all steps were made; pid of the last fork
//	FAILED  seq, step, errno  a step failed: in init itself, or in the child it forked
//	EXIT    pid, status, rusage, last  a child that was forked here ended, and, if last, no child is left;
//	                        or who is attended is held at its end, or attended no more
//	IDLE                    no child is left, and no EXIT has said so
//	READY   seq             a child that has waited is about to execute its program, or an ancestor's
//	                        child to go on as the interpreter
//	FILES   seq             carries descriptors, sent by a program's own step
//
// A container into which no descriptor can be passed is served over init's standard
// input and output instead (see [Stream]). Messages and records are then parts of
// two byte streams; the word for the number of files is the size of an answer, which
// init appends to DONE; and the streams of programs travel between the records:
//
//	INPUT   bytes         host to init: what the program reads, one chunk at a time
//	CREDIT  stream, n     host to init: n bytes more of a stream are wanted
//	OUTPUT  stream, bytes init to host: what a program has written; none is the end
//	TAKEN   errno         init to host: the chunk is the program's, or nobody's
//
// For one message, FAILED of a child comes before DONE where it is forked with
// CLONE_VFORK: init waits until the child has called execve. One that is not has a
// socket of its own and waits there for messages, of which the last ends with READY
// and execve. An
// init whose socket reaches end of file ends, and with it all that it holds.
//
// A server that attends ([Program.Attend]) has no children but those that it traces.
//
// An ancestor does not wait for its child: of that READY or FAILED comes before DONE or after
// it, and the EXIT from the init that has adopted it.
//
// The protocol is not an interface between trust domains in one direction: init
// believes the host, which is more privileged. The host believes nothing: a
// record has a fixed size, descriptors come in no greater number than the program
// sends, and only those children end that were asked for. An init that says
// anything else is given up, and with it what it holds.
package spawn
