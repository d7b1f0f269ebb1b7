package spawn

import (
	"os"

	"golang.org/x/sys/unix"
)

// Namespaced is what a new init is born with.
type Namespaced struct {
	// Flags are CLONE_NEW* flags.
	Flags uintptr
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
	// clone, not clone3: Docker's default filter answers ENOSYS to the latter.
	args := []Arg{Value(n.Flags | unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)), Value(0), pidfd}
	p.Fork("create namespaces", unix.SYS_CLONE, args, func() {
		p.Call("dup3", unix.SYS_DUP3, socket, FD(controlFD), Value(unix.O_CLOEXEC))
		p.Call("close_range", unix.SYS_CLOSE_RANGE, Value(controlFD+1), Value(uint32(1<<32-1)), Value(0))
		if n.Child != nil {
			n.Child(&p)
		}
		p.Serve()
	})
	p.SendFiles(p.Cell(pidfd, 0))
	p.Call("close", unix.SYS_CLOSE, p.Cell(pidfd, 0))
	reply, err := s.Do(&p)
	if err != nil {
		unix.Close(ours)
		return nil, err
	}
	return &Init{Server: newServer(ours, 0), PID: reply.PID, Pidfd: reply.Files[0]}, nil
}

// Kill ends the init and, where it is pid 1 of a namespace, all that is in it.
func (i *Init) Kill() error {
	err := unix.PidfdSendSignal(int(i.Pidfd.Fd()), unix.SIGKILL, nil, 0)
	if err == unix.ESRCH {
		return nil
	}
	return err
}
