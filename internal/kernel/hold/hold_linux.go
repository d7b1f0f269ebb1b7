// Package hold makes processes that hold the memory of others, and do nothing.
//
// The kernel tells of the end of a process when it has taken its memory down. That is done by the last
// process that has the memory: so the end of one whose memory another holds is known before.
//
// What waits is made to clone itself by ptrace(2), in place of a system call that it makes afterwards.
package hold

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Clone has the process with a number make its holder, and gives that's pidfd. It gives nil where none
// can be made, and the process is as it was then. The caller's goroutine is locked to its thread, which
// traces the process meanwhile. After an error the process, and whatever is its parent's child then, is
// to be ended by [End], or nobody can bury it.
//
// still tells whether the number is the process's, when it cannot become another's any more. admit is
// called with how many holders there will be, before there are.
func Clone(pid int, still func() bool, admit func(holders int64) error) (pidfd *os.File, err error) {
	t := tracee(pid)
	if !t.seize(still) {
		return nil, nil
	}
	var r unix.PtraceRegs
	if err = t.interrupt(); err == nil {
		_, err = t.toCall() // another, or what it waits in, which it then makes again
	}
	if err == nil {
		err = unix.PtraceGetRegs(pid, &r)
	}
	if err != nil {
		return nil, err
	}
	if !speaksCalls(r) {
		return nil, unix.PtraceDetach(pid)
	}
	if err = admit(1); err != nil {
		return nil, err
	}
	clone, err := t.clone(r)
	if err == nil && clone == 0 {
		err = admit(0)
	}
	if err == nil && clone != 0 {
		pidfd, err = clone.rest(r)
	}
	if err != nil {
		return nil, err
	}
	if err = unix.PtraceDetach(pid); err != nil {
		pidfd.Close()
	}
	return pidfd, err
}

// tracee is a process that this thread traces.
type tracee int

// End kills a process that this thread traces, after [Clone] has failed, and lets its parent know. Of
// others it does nothing. While it is traced nobody else has its number.
func End(pid int) {
	t := tracee(pid)
	for wait := unix.WALL | unix.WNOHANG; ; wait = unix.WALL {
		var status unix.WaitStatus
		pid, err := unix.Wait4(int(t), &status, wait, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || pid != 0 && !status.Stopped():
			return
		}
		_ = unix.Kill(int(t), unix.SIGKILL)
	}
}

// seize begins to trace it, if that may be and it has not ended meanwhile, when its number may be another's.
func (t tracee) seize(still func() bool) bool {
	fd, err := unix.PidfdOpen(int(t), 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !still() || unix.PtraceSeize(int(t)) != nil {
		return false
	}
	if unix.PidfdSendSignal(fd, 0, nil, 0) == nil {
		return true
	}
	if t.interrupt() == nil { // it is somebody else
		_ = unix.PtraceDetach(int(t))
	}
	return false
}

// stopped waits until it is stopped.
func (t tracee) stopped() (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(int(t), &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case !status.Stopped():
			return 0, errors.New("it has ended")
		}
		return status, nil
	}
}

func (t tracee) interrupt() error {
	if err := unix.PtraceInterrupt(int(t)); err != nil {
		return err
	}
	status, err := t.stopped()
	if err == nil && status.TrapCause() != unix.PTRACE_EVENT_STOP {
		err = metSignal(status)
	}
	if err == nil {
		err = unix.PtraceSetOptions(int(t), unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE)
	}
	return err
}

// toCall has it go on until it enters a system call, leaves the one that it is in, or clones: then it
// gives the clone.
func (t tracee) toCall() (clone tracee, err error) {
	if err := unix.PtraceSyscall(int(t), 0); err != nil {
		return 0, err
	}
	status, err := t.stopped()
	switch {
	case err != nil:
		return 0, err
	case status.TrapCause() == unix.PTRACE_EVENT_CLONE:
		pid, err := unix.PtraceGetEventMsg(int(t))
		return tracee(pid), err
	case status.StopSignal() != unix.SIGTRAP|0x80:
		return 0, metSignal(status)
	}
	return 0, nil
}

func metSignal(status unix.WaitStatus) error {
	return fmt.Errorf("it has met a signal (%#x)", uint32(status))
}

// clone has it clone itself in place of the call that it enters, which it makes afterwards. The clone
// shares its memory, and is no child of it but of init. It gives 0 where none can be made.
func (t tracee) clone(r unix.PtraceRegs) (clone tracee, err error) {
	set := func(r unix.PtraceRegs) error { return unix.PtraceSetRegs(int(t), &r) }
	if err := set(otherwise(r, unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_PARENT)); err != nil {
		return 0, err
	}
	clone, err = t.toCall()
	if err == nil && clone != 0 {
		_, err = t.toCall()
	}
	if err == nil {
		err = set(again(r))
	}
	return clone, err
}

// rest has a clone, which began with these registers, close its files and stop. If somebody has it go
// on it ends.
func (t tracee) rest(r unix.PtraceRegs) (*os.File, error) {
	pid := int(t)
	status, err := t.stopped()
	if err == nil && status.TrapCause() != unix.PTRACE_EVENT_STOP {
		err = metSignal(status)
	}
	if err == nil {
		err = t.ignoreSignals()
	}
	if err == nil {
		err = t.call(next(r, unix.SYS_CLOSE_RANGE, 0, 1<<32-1, 0))
	}
	if err == nil {
		end := next(r, unix.SYS_EXIT_GROUP, 0, 0, 0)
		err = unix.PtraceSetRegs(pid, &end)
	}
	if err != nil {
		return nil, err
	}
	// What it does is for when nobody waits any more: woken, it does not go before who gathers figures.
	_ = unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	pidfd := os.NewFile(uintptr(fd), "a holder of memory")
	err = unix.Tgkill(pid, pid, unix.SIGSTOP)
	if err == nil {
		err = unix.PtraceDetach(pid)
	}
	if err != nil {
		pidfd.Close()
		return nil, err
	}
	return pidfd, nil
}

// ignoreSignals blocks all: a handler would be called on a stack that another has.
func (t tracee) ignoreSignals() error {
	all := ^uint64(0) // sigset_t of the kernel's
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SETSIGMASK, uintptr(t), unsafe.Sizeof(all), uintptr(unsafe.Pointer(&all)), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// call has it make the call that it was given registers for, which must succeed.
func (t tracee) call(r unix.PtraceRegs) error {
	err := unix.PtraceSetRegs(int(t), &r)
	if err == nil {
		err = unix.PtraceSingleStep(int(t))
	}
	if err != nil {
		return err
	}
	status, err := t.stopped()
	switch {
	case err != nil:
		return err
	case status.StopSignal() != unix.SIGTRAP:
		return metSignal(status)
	}
	if err = unix.PtraceGetRegs(int(t), &r); err == nil && result(r) != 0 {
		err = fmt.Errorf("it could not close its files: %w", unix.Errno(-result(r)))
	}
	return err
}
