// Package notify is the supervisor's end of a seccomp filter that asks: the
// kernel stops a program's system call until somebody else has decided what it
// returns (SECCOMP_RET_USER_NOTIF, seccomp_unotify(2)).
//
// It never lets a call go on. A program with threads can change what the
// arguments point to after it was looked at, so a decision that the kernel
// carries out afterwards decides nothing. What a program may have, the supervisor
// makes itself and puts into the program's table of descriptors
// ([Listener.Install]); the call then returns without having been made.
//
//	filter with FilterFlags() installed by the program's starter ──▶ descriptor
//	listener := New(descriptor)
//	for {
//		call, err := listener.Receive() // io.EOF: no program is left
//		…
//		listener.Return(call, 0)
//	}
package notify
