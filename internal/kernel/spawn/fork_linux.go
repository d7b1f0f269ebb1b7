package spawn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Namespaced is what a new init is born with.
type Namespaced struct {
	// Flags are CLONE_NEW* flags.
	Flags uintptr
	// Cgroup is the version 2 group that the init is born in; nil is ours. It
	// takes clone3, which Docker's default filter hides.
	Cgroup *os.File
	// Child appends what the new init does before it serves; it may be nil.
	Child func(p *Program)
}

// Init is a server that the spawner forked.
type Init struct {
	*Server
	// PID is its number in our pid namespace, and Pidfd refers to it for good.
	PID   int
	Pidfd *os.File
}

// Fork makes a new init, in new namespaces. Wait on the spawner tells its end.
func (s *Server) Fork(n Namespaced) (*Init, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(theirs)
	var p Program
	socket := p.File(theirs)
	pidfd := p.Bytes(make([]byte, 8))
	p.ForkInto(n.Cgroup, "create namespaces", n.Flags|unix.CLONE_PIDFD, pidfd, func() {
		p.Call("dup3", unix.SYS_DUP3, socket, FD(controlFD), Value(unix.O_CLOEXEC))
		p.Call("close_range", unix.SYS_CLOSE_RANGE, Value(controlFD+1), Value(uint32(1<<32-1)), Value(0))
		if n.Child != nil {
			n.Child(&p)
		}
		p.Serve()
	})
	p.SendFiles(p.Cell(pidfd, 0)).AllowAny() // the spawner's own is closed in any case
	p.Call("close", unix.SYS_CLOSE, p.Cell(pidfd, 0))
	reply, err := s.Do(&p)
	if err == nil && len(reply.Files) != 1 {
		err = fmt.Errorf("the spawner could not pass on the descriptor of a new init, of which it sent %d", len(reply.Files))
	}
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	return &Init{Server: newServer(ours, 0), PID: reply.PID, Pidfd: reply.Files[0]}, nil
}

// NewWaiter makes what tells a child its command later ([Program.Await]), and the socket that
// the child is to have, which the caller closes.
func NewWaiter() (waiter *Server, socket int, err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, -1, err
	}
	return newServer(ours, 0), theirs, nil
}

// Become has a child that waits carry out a program whose last steps are [Program.Ready] and
// execve, and calls meanwhile while it does. Its error is a [*StepError] when it has not become that, and
// is still there.
func (s *Server) Become(p *Program, meanwhile func()) error {
	d := s.do(p, nil, meanwhile)
	switch {
	case d.ready && errors.Is(d.err, ErrGone): // execve has closed its socket
		return nil
	case d.err == nil:
		return errors.New("a child that was to become a program goes on waiting")
	case errors.Is(d.err, ErrGone):
		return errors.New("a child that waited to become a program has ended")
	}
	return d.err
}

// Kill ends the init and, where it is pid 1 of a namespace, all that is in it.
func (i *Init) Kill() error { return i.Signal(unix.SIGKILL) }

// Signal sends the init a signal. Whoever has reaped it may close Pidfd meanwhile: there is
// nobody left to send it to then, which is no error.
func (i *Init) Signal(signal unix.Signal) error {
	conn, err := i.Pidfd.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) { err = unix.PidfdSendSignal(int(fd), signal, nil, 0) })
	if closed != nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// ForkInto appends a fork with flags whose child makes the calls that child
// appends: clone3 where the child is to be born in a version 2 control group,
// else clone, which Docker's default filter lets pass. The child's end is
// announced by SIGCHLD. With CLONE_PIDFD its descriptor is stored at pidfd.
func (p *Program) ForkInto(cgroup *os.File, name string, flags uintptr, pidfd Arg, child func()) {
	if cgroup == nil {
		p.Fork(name, unix.SYS_CLONE, []Arg{Value(flags | uintptr(unix.SIGCHLD)), Value(0), pidfd}, child)
		return
	}
	const size, pidfdAt, signalAt, cgroupAt = 88, 8, 32, 80 // struct clone_args, as of Linux 5.7
	clone := make([]byte, size)
	binary.NativeEndian.PutUint64(clone, uint64(flags)|unix.CLONE_INTO_CGROUP)
	binary.NativeEndian.PutUint64(clone[signalAt:], uint64(unix.SIGCHLD))
	at := p.Bytes(clone)
	if pidfd != (Arg{}) {
		p.SetPointer(at, pidfdAt, pidfd)
	}
	p.SetInt(at, cgroupAt, p.File(int(cgroup.Fd())))
	p.Fork(name, unix.SYS_CLONE3, []Arg{at, Value(size)}, child)
}
