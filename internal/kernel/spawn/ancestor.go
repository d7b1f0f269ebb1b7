package spawn

import (
	"encoding/binary"
	"os"
	"syscall"
)

// AncestorLibrary is what makes a CPython (3.7 and later) that loads it, as the module
// "ancestor", or a Node (process.dlopen) a server on [AncestorFD] whose programs may
// [Program.Beget]. It is empty where there is none for this architecture.
func AncestorLibrary() []byte { return ancestorLibrary }

// AncestorFD is where an ancestor has its socket: behind all descriptors that an interpreter has when
// it waits, which its children have at the same places.
const AncestorFD = 63

// AncestorUnable is how an interpreter exits that cannot be an ancestor: it lacks what the library needs.
const AncestorUnable = 126

// StopThreads has an ancestor stop for good its other threads, of these numbers: its children go on with
// as many ([Program.ResumeThreads]). It fails with EINVAL for an interpreter that forks without
// threads (CPython), and where there are more than 63.
func (p *Program) StopThreads(threads []int) {
	var numbers []byte
	for _, t := range threads {
		numbers = binary.NativeEndian.AppendUint32(numbers, uint32(t))
	}
	p.Call("stop the interpreter's threads", callStop, p.Bytes(numbers), Value(len(threads)))
}

// Beget appends a fork of an ancestor: the child is born in the pid namespace that the ancestor
// has entered for its children, and in a control group of version 2 unless that is nil, and makes
// the calls that child appends, of which the last is [Program.Return]. The program is for
// [Server.Beget].
func (p *Program) Beget(cgroup *os.File, child func()) {
	into := FD(-1)
	if cgroup != nil {
		into = p.File(int(cgroup.Fd()))
	}
	p.Fork("fork an interpreter", callBeget, []Arg{into}, child)
}

// ResumeThreads has the child of an ancestor go on with as many threads as that has stopped.
func (p *Program) ResumeThreads() { p.Call("make the interpreter's threads", callResume) }

// Return has the child of an ancestor say that it has come back, close its socket, and go on as the
// interpreter that it is.
func (p *Program) Return() {
	p.Call("say that it has come back", callReady)
	p.Call("go on as the interpreter", callReturn)
}

// Adopt has a server report the end of a child that somebody else has forked for it. It fails
// with ESRCH once that was reaped.
func (p *Program) Adopt(pid int) { p.Call("adopt a child", callAdopt, Value(pid)) }

// Descendant is a child of an ancestor.
type Descendant struct {
	// PID is its number in the pid namespace that it is born in, whose init becomes its parent.
	PID int
	// Back is closed when it has come back or said why it could not, or when nothing can be
	// heard of it any more. One that is killed on its way says nothing.
	Back <-chan struct{}

	seq     uint32 // the program's number
	program *Program
	back    chan struct{}
	err     error
}

// Err waits for Back and tells why the child has not come back: a [*StepError], or [ErrGone]
// where the ancestor has ended.
func (d *Descendant) Err() error {
	<-d.Back
	return d.err
}

// Beget has an ancestor carry out a program that begets, and returns when it has: its child is on
// its way then, and the ancestor may have the next one.
func (s *Server) Beget(p *Program) (*Descendant, error) {
	back := make(chan struct{})
	child := &Descendant{Back: back, back: back, program: p}
	d := s.do(p, child, nil)
	if d.err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard(d.seq, d.err)
		return nil, d.err
	}
	child.PID, child.seq = d.reply.PID, d.seq
	return child, nil
}

// Forget hears no more of a descendant, as of one that was killed on its way: to who still waits
// for it nothing can be heard of it.
func (s *Server) Forget(child *Descendant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard(child.seq, ErrGone)
}

// heard notes what has become of a descendant. The caller holds mu.
func (s *Server) heard(seq uint32, err error) {
	if d := s.begotten[seq]; d != nil {
		d.err = err
		close(d.back)
		delete(s.begotten, seq)
	}
}

// failedOnItsWay tells whether a record is of a descendant's failure, and notes it.
func (s *Server) failedOnItsWay(r record) bool {
	d := s.begotten[r.seq]
	if d == nil || !d.program.inFork(int(r.a)) {
		return false
	}
	s.heard(r.seq, &StepError{d.program.name(int(r.a)), syscall.Errno(r.b)})
	return true
}
