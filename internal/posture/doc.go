// Package posture looks at a sandbox from inside, with the eyes of a program that has
// just been started: what it is, what it sees, and what the kernel answers to each
// system call and kind of socket. And it says what of that is not as it should be.
//
// The program is the init of [spawn], a list of system calls away from doing anything:
// it is put into the workspace like any other program, started under every restriction
// that others have, and asked over its standard input. Meanwhile the host's /proc and control
// groups say what it and its init are from outside.
package posture
