package hold

import "golang.org/x/sys/unix"

// Supported tells whether this architecture has it.
const Supported = true

// What a process has that is stopped where it enters or leaves a system call (AMD64 Architecture
// Programmer's Manual, volume 3, SYSCALL; arch/x86/entry/entry_64.S): behind that instruction, with
// the call in Orig_rax as it enters.
const (
	callBytes   = 2
	longSegment = 0x33 // of a process of 64 bits
)

// speaksCalls tells whether what is stopped makes its calls as is assumed here.
func speaksCalls(r unix.PtraceRegs) bool { return r.Cs == longSegment }

// otherwise has a process that enters a call make another in its place.
func otherwise(r unix.PtraceRegs, call, arg uint64) unix.PtraceRegs {
	r.Orig_rax, r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = call, arg, 0, 0, 0, 0, 0
	return r
}

// again has a process make the call that it once entered with these.
func again(r unix.PtraceRegs) unix.PtraceRegs { return next(r, r.Orig_rax, r.Rdi, r.Rsi, r.Rdx) }

// next has a process make a call with the instruction that it has made its last one with.
func next(r unix.PtraceRegs, call, first, second, third uint64) unix.PtraceRegs {
	r.Rip -= callBytes
	r.Orig_rax = ^uint64(0) // it is in none
	r.Rax, r.Rdi, r.Rsi, r.Rdx = call, first, second, third
	return r
}

// result is what a call has given, less than 0 for an errno.
func result(r unix.PtraceRegs) int64 { return int64(r.Rax) }
