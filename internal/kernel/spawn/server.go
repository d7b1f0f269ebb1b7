package spawn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// ErrGone says that an init has ended, and with it all that it held.
var ErrGone = errors.New("the sandbox's init has ended")

// StepError says which step of a [Program] failed.
type StepError struct {
	Step  string
	Errno syscall.Errno
}

func (e *StepError) Error() string { return e.Step + ": " + e.Errno.Error() }

// Unwrap gives the errno, for errors.Is.
func (e *StepError) Unwrap() error { return e.Errno }

// Scarce tells an errno of execve that is about this host and not about the program.
func (e *StepError) Scarce() bool {
	switch e.Errno {
	case syscall.EAGAIN, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return true
	}
	return false
}

// Exit is the end of a process that an init forked.
type Exit struct {
	PID    int
	Status WaitStatus
	Usage  Usage
	Stage  Stage
}

// WaitStatus is how a process ended, as Linux encodes it.
type WaitStatus uint32

// Signaled tells whether a signal ended it.
func (w WaitStatus) Signaled() bool { return w&0x7f != 0 }

// Signal is the signal that ended it.
func (w WaitStatus) Signal() syscall.Signal { return syscall.Signal(w & 0x7f) }

// ExitStatus is the exit code of one that no signal has ended.
func (w WaitStatus) ExitStatus() int { return int(w >> 8 & 0xff) }

// Usage is struct rusage of a process and of the descendants that it waited
// for. Of pid 1 it covers all that ever ran in its namespace.
type Usage struct {
	User, System                time.Duration
	MaxRSSBytes                 int64
	MinorFaults, MajorFaults    int64
	InBlocks, OutBlocks         int64 // of 512 bytes
	VoluntarySwitches, Switches int64 // Switches are the involuntary ones
}

// Reply is what came back for a program.
type Reply struct {
	// PID is the result of the last fork, in the init's pid namespace.
	PID int
	// Files are the descriptors that the program sent.
	Files []*os.File
	// Answer are the bytes of [Program.Answer].
	Answer []byte
}

// Server is the host's end of an init. It is safe for concurrent use.
type Server struct {
	conn    transport
	carried *carried // the streams of programs; nil where descriptors are passed

	sending sync.Mutex // one program at a time
	seq     uint32
	closed  chan struct{}
	closing sync.Once

	mu    sync.Mutex
	cond  *sync.Cond // signals changes of busy and gone
	doing *pending   // the program that waits for its answer; nil when none does
	// children are those that Do has given to its callers, by pid, until they have ended and
	// were asked for. One that nobody has asked for yet leaves its number to others, which come
	// after it. An init that makes up others is not heard, so that there are
	// never more than programs were sent.
	children map[int][]*Child
	unknown  []*Child // what was asked for and is nobody's number
	// begotten are the descendants that nothing was heard of yet, by their program's number.
	begotten map[uint32]*Descendant
	busy     bool // a child was forked, and nothing has said since that none is left
	gone     bool
}

// pending is a program that was sent, and what has come back for it.
type pending struct {
	program *Program
	seq     uint32
	reply   Reply
	err     error         // the step that failed
	ready   bool          // execve is next
	done    chan struct{} // closed when nothing more will come
}

type record struct {
	kind, seq uint32
	a, b      int32
	usage     [9]uint64
	files     []*os.File
	lost      bool // we had no room for all of the files
	bytes     []byte
}

// transport is the way to an init.
type transport interface {
	// send sends a message, and its program's files.
	send(message []byte, files []int) error
	// read reads one record and what belongs to it.
	read() (record, error)
	// hangUp ends both directions; read and send return.
	hangUp()
	// close frees the way, and waits for the end of an init that is our child.
	close() error
}

// serve begins to listen to an init.
func serve(conn transport) *Server {
	s := &Server{conn: conn, closed: make(chan struct{}), children: map[int][]*Child{}, begotten: map[uint32]*Descendant{}}
	s.cond = sync.NewCond(&s.mu)
	if _, ok := conn.(*byteStream); ok {
		s.carried = newCarried(s)
	}
	go s.receive()
	return s
}

// Do has a program carried out and waits until all its steps were made. Its
// error is a [*StepError] when a step failed.
func (s *Server) Do(p *Program) (Reply, error) {
	d := s.do(p, nil, nil)
	return d.reply, d.err
}

// do sends a program and waits for its answer; meanwhile is called in between, if it is not nil.
func (s *Server) do(p *Program, child *Descendant, meanwhile func()) *pending {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.seq++
	message, err := p.encode(s.seq)
	if err != nil {
		return &pending{err: err}
	}
	d := s.begin(p, s.seq, child)
	if err := s.send(message, p.files); err != nil {
		s.mu.Lock()
		s.answered(err)
		s.mu.Unlock()
	} else if meanwhile != nil {
		meanwhile()
	}
	<-d.done
	if d.err != nil {
		closeAll(d.reply.Files)
		d.reply.Files = nil
	}
	return d
}

// begin makes a program the one that records answer.
func (s *Server) begin(p *Program, seq uint32, child *Descendant) *pending {
	d := &pending{program: p, seq: seq, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = d
	if child != nil {
		s.begotten[seq] = child
	}
	if s.gone {
		s.answered(ErrGone)
	}
	return d
}

// answered ends the wait for an answer. The caller holds mu.
func (s *Server) answered(err error) {
	if s.doing == nil {
		return
	}
	if s.doing.err == nil {
		s.doing.err = err
	}
	close(s.doing.done)
	s.doing = nil
}

func (s *Server) send(message []byte, files []int) error {
	err := s.conn.send(message, files)
	if err != nil && s.isClosed() {
		return ErrGone
	}
	return err
}

// inFork tells whether a step is made by a forked child.
func (p *Program) inFork(step int) bool {
	for i := range p.steps {
		if p.steps[i].flags&stepFork != 0 && step > i && step <= i+int(p.steps[i].skip) {
			return true
		}
	}
	return false
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Wait waits for the end of a process that a program of this server forked, as [Server.Child].
func (s *Server) Wait(pid int) (Exit, error) { return s.Child(pid).Exit() }

// WaitIdle waits until no process of this init is left. An init that has ended
// holds none.
func (s *Server) WaitIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy && !s.gone {
		s.cond.Wait()
	}
}

// Lives tells whether a process that a program of this server forked has not ended, as far as
// is known.
func (s *Server) Lives(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lives := s.children[pid]
	return len(lives) > 0 && !lives[len(lives)-1].ended() && !s.gone
}

// Idle tells whether this init has said that no process of its is left. It has said so of
// what a process leaves behind once that was waited for; one that has ended says nothing.
func (s *Server) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy && !s.gone
}

// Gone tells whether this init has ended, as far as is known.
func (s *Server) Gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// Close ends the init and everything that it holds. For our own child it waits
// until it is gone.
func (s *Server) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		err = s.conn.close()
	})
	return err
}

func (s *Server) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// receive reads records until the init is gone, or says what no init says: then
// it is given up, and nobody waits for it to read what we send.
func (s *Server) receive() {
	for {
		r, err := s.conn.read()
		if err == nil {
			err = s.note(r)
		}
		if err != nil {
			break
		}
	}
	s.conn.hangUp()
	s.carried.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.answered(ErrGone)
	for seq := range s.begotten {
		s.heard(seq, ErrGone)
	}
	s.orphan()
	s.cond.Broadcast()
}

// note keeps in mind what a record tells.
func (s *Server) note(r record) error {
	if r.kind == recordOutput || r.kind == recordInput {
		return s.carried.note(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.kind {
	case recordFiles:
		return s.noteFiles(r)
	case recordExit:
		s.noteExit(r)
		s.busy = s.busy && r.seq != exitLast
		s.cond.Broadcast()
	case recordReady:
		if s.answers(r) {
			s.doing.ready = true
		}
		s.heard(r.seq, nil)
	case recordIdle:
		s.busy = false
		s.cond.Broadcast()
	case recordDone:
		return s.noteDone(r)
	case recordFailed:
		s.noteFailed(r)
	}
	return nil
}

// noteFiles takes descriptors, not more than the program sends. If there was no room
// for them that is the program's failure, and not the init's.
func (s *Server) noteFiles(r record) error {
	if s.doing == nil || r.lost && s.doing.program.sends == 0 || len(s.doing.reply.Files)+len(r.files) > s.doing.program.sends {
		closeAll(r.files)
		return fmt.Errorf("%d descriptors that nobody waits for", len(r.files))
	}
	s.doing.reply.Files = append(s.doing.reply.Files, r.files...)
	if r.lost && s.doing.err == nil {
		s.doing.err = &StepError{"take descriptors from the sandbox's init", syscall.EMFILE}
	}
	return nil
}

// answers tells whether a record is about the program that waits for an answer.
// A child that fails late may answer for one that was done before.
func (s *Server) answers(r record) bool { return s.doing != nil && s.doing.seq == r.seq }

func (s *Server) noteDone(r record) error {
	if !s.answers(r) {
		return nil
	}
	if len(r.bytes) != s.doing.program.answer {
		return fmt.Errorf("an answer of %d bytes, not %d", len(r.bytes), s.doing.program.answer)
	}
	s.doing.reply.Answer = r.bytes
	if r.a > 0 {
		s.busy = true
		s.doing.reply.PID = int(r.a)
		if s.doing.err == nil {
			s.children[int(r.a)] = append(s.children[int(r.a)], newChild())
		}
	}
	s.answered(nil)
	return nil
}

// noteFailed ends the wait, unless a child failed: then init says DONE as well. A
// program that failed has left a child only if it came past a fork; an IDLE for
// it comes after the record in any case.
func (s *Server) noteFailed(r record) {
	if s.failedOnItsWay(r) || !s.answers(r) {
		return
	}
	p, step := s.doing.program, int(r.a)
	if p.forkedBefore(step) {
		s.busy = true
	}
	err := &StepError{p.name(step), syscall.Errno(r.b)}
	if s.doing.err == nil && p.inFork(step) {
		s.doing.err = err
		return
	}
	s.answered(err)
}

// forkedBefore tells whether a fork and all of its child's steps lie before a
// step.
func (p *Program) forkedBefore(step int) bool {
	for i := range p.steps {
		if s := p.steps[i]; s.flags&stepFork != 0 && i+int(s.skip) < step {
			return true
		}
	}
	return false
}

func exitOf(r record) Exit {
	u := r.usage
	us := func(i int) time.Duration { return time.Duration(u[i]) * time.Microsecond }
	stage := StageEnded
	if r.seq == exitHeld {
		stage = StageHeld
	} else if r.b&0xff == stoppedStatus {
		stage = StageLetGo
	}
	return Exit{PID: int(r.a), Status: WaitStatus(r.b), Stage: stage, Usage: Usage{
		User: us(0), System: us(1), MaxRSSBytes: int64(u[2]) << 10,
		MinorFaults: int64(u[3]), MajorFaults: int64(u[4]), InBlocks: int64(u[5]), OutBlocks: int64(u[6]),
		VoluntarySwitches: int64(u[7]), Switches: int64(u[8]),
	}}
}

// maxFigure bounds what an init may say of a process's usage, so that no figure
// overflows in another unit: 35 years in microseconds, an exbibyte in KiB.
const maxFigure = 1 << 50

func decodeRecord(buf []byte, files []*os.File) record {
	e := binary.NativeEndian
	r := record{kind: e.Uint32(buf), seq: e.Uint32(buf[4:]), a: int32(e.Uint32(buf[8:])), b: int32(e.Uint32(buf[12:])), files: files}
	for i := range r.usage {
		r.usage[i] = min(e.Uint64(buf[16+8*i:]), maxFigure)
	}
	return r
}
