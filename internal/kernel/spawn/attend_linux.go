package spawn

import "golang.org/x/sys/unix"

// Attend has a server trace a process for its end (PTRACE_O_TRACEEXIT, ptrace(2)). When it ends of itself, the
// server tells so before the kernel takes its memory down, which is most of an end, and holds it
// until [Program.Release]. One that is killed it tells of when that is dead. By any signal before, whatever
// that does, the process is attended no more. The server whose child it is hears of its end as ever.
//
// pid is its number where the server is, which must be nobody's parent: at its own end it lets all go. Nobody may have reaped
// it meanwhile.
func (p *Program) Attend(pid int) {
	p.Call("attend a process", callAttend, Value(pid))
}

// Unattend has a server let a process go that it attends still and does not hold, or tell that it
// has gone: one that is replaced by another of its threads is, and nobody is told.
func (p *Program) Unattend(pid int) { p.Call("attend a process no more", callUnattend, Value(pid)) }

// Release lets a process that is held come to its end, behind what the server's own peers have to do.
func (p *Program) Release(pid int) {
	const batch = 3 // SCHED_BATCH, linux/sched.h
	p.Call("sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, Value(pid), Value(batch), p.Bytes(make([]byte, 8))).AllowAny()
	p.Call("ptrace PTRACE_DETACH", unix.SYS_PTRACE, Value(unix.PTRACE_DETACH), Value(pid), Value(0), Value(0)).Allow(unix.ESRCH)
}
