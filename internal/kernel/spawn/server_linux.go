package spawn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// Exit is the end of a process that an init forked.
type Exit struct {
	PID    int
	Status syscall.WaitStatus
	Usage  Usage
}

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
}

// Server is the host's end of an init. It is safe for concurrent use.
type Server struct {
	pid  int // our child's, or 0 for an init that the spawner made
	conn *os.File
	raw  syscall.RawConn

	sending sync.Mutex // one program at a time
	seq     uint32
	closed  chan struct{}
	closing sync.Once

	mu    sync.Mutex
	cond  *sync.Cond // signals changes of the fields below
	doing *pending   // the program that waits for its answer; nil when none does
	// children are those that Do has given to its callers, by pid; nil while
	// they live. An init that makes up others is not heard, so that there are
	// never more than programs were sent.
	children map[int]*Exit
	busy     bool // a child was forked and no IDLE came since
	gone     bool
}

// pending is a program that was sent, and what has come back for it.
type pending struct {
	program *Program
	seq     uint32
	reply   Reply
	err     error         // the step that failed
	done    chan struct{} // closed when nothing more will come
}

type record struct {
	kind, seq uint32
	a, b      int32
	usage     [9]uint64
	files     []*os.File
}

func newServer(fd, pid int) *Server {
	s := &Server{
		pid:      pid,
		conn:     os.NewFile(uintptr(fd), "init"),
		closed:   make(chan struct{}),
		children: map[int]*Exit{},
	}
	s.cond = sync.NewCond(&s.mu)
	s.raw, _ = s.conn.SyscallConn() // cannot fail: the file is open
	go s.receive()
	return s
}

// Do has a program carried out and waits until all its steps were made. Its
// error is a [*StepError] when a step failed.
func (s *Server) Do(p *Program) (Reply, error) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.seq++
	message, err := p.encode(s.seq)
	if err != nil {
		return Reply{}, err
	}
	d := s.begin(p, s.seq)
	if err := s.send(message, p.files); err != nil {
		s.mu.Lock()
		s.answered(err)
		s.mu.Unlock()
	}
	<-d.done
	if d.err != nil {
		closeAll(d.reply.Files)
		d.reply.Files = nil
	}
	return d.reply, d.err
}

// begin makes a program the one that records answer.
func (s *Server) begin(p *Program, seq uint32) *pending {
	d := &pending{program: p, seq: seq, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = d
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
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	var sent error
	err := s.raw.Write(func(fd uintptr) bool {
		for {
			sent = unix.Sendmsg(int(fd), message, rights, nil, unix.MSG_NOSIGNAL)
			if sent != unix.EINTR {
				return sent != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = sent
	}
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || err != nil && s.isClosed() {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("send to init: %w", err)
	}
	return nil
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

// Wait waits for the end of a process that a program of this server forked.
// Each process can be waited for once.
func (s *Server) Wait(pid int) (Exit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if e := s.children[pid]; e != nil {
			delete(s.children, pid)
			return *e, nil
		}
		if s.gone {
			return Exit{}, ErrGone
		}
		s.cond.Wait()
	}
}

// WaitIdle waits until no process of this init is left. An init that has ended
// holds none.
func (s *Server) WaitIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy && !s.gone {
		s.cond.Wait()
	}
}

// Close ends the init and everything that it holds. For our own child it waits
// until it is gone.
func (s *Server) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		err = s.conn.Close()
		if s.pid != 0 {
			waitChild(s.pid)
		}
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

func waitChild(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// receive reads records until the init is gone, or says what no init says: then
// it is given up, and nobody waits for it to read what we send.
func (s *Server) receive() {
	for {
		r, err := s.read()
		if err == nil {
			err = s.note(r)
		}
		if err != nil {
			break
		}
	}
	_ = s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // closed is as good
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.answered(ErrGone)
	s.cond.Broadcast()
}

// note keeps in mind what a record tells.
func (s *Server) note(r record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.kind {
	case recordFiles:
		return s.noteFiles(r.files)
	case recordExit:
		if _, ours := s.children[int(r.a)]; ours {
			e := exitOf(r)
			s.children[e.PID] = &e
		}
		s.cond.Broadcast()
	case recordIdle:
		s.busy = false
		s.cond.Broadcast()
	case recordDone:
		s.noteDone(r)
	case recordFailed:
		s.noteFailed(r)
	}
	return nil
}

// noteFiles takes descriptors, not more than the program sends.
func (s *Server) noteFiles(files []*os.File) error {
	if s.doing == nil || len(s.doing.reply.Files)+len(files) > s.doing.program.sends {
		closeAll(files)
		return fmt.Errorf("%d descriptors that nobody waits for", len(files))
	}
	s.doing.reply.Files = append(s.doing.reply.Files, files...)
	return nil
}

// answers tells whether a record is about the program that waits for an answer.
// A child that fails late may answer for one that was done before.
func (s *Server) answers(r record) bool { return s.doing != nil && s.doing.seq == r.seq }

func (s *Server) noteDone(r record) {
	if !s.answers(r) {
		return
	}
	if r.a > 0 {
		s.busy = true
		s.doing.reply.PID = int(r.a)
		if s.doing.err == nil {
			s.children[int(r.a)] = nil
		}
	}
	s.answered(nil)
}

// noteFailed ends the wait, unless a child failed: then init says DONE as well. A
// program that failed has left a child only if it came past a fork; an IDLE for
// it comes after the record in any case.
func (s *Server) noteFailed(r record) {
	if !s.answers(r) {
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
	return Exit{PID: int(r.a), Status: syscall.WaitStatus(r.b), Usage: Usage{
		User: us(0), System: us(1), MaxRSSBytes: int64(u[2]) << 10,
		MinorFaults: int64(u[3]), MajorFaults: int64(u[4]), InBlocks: int64(u[5]), OutBlocks: int64(u[6]),
		VoluntarySwitches: int64(u[7]), Switches: int64(u[8]),
	}}
}

// read reads one record and the descriptors that came with it.
func (s *Server) read() (record, error) {
	buf := make([]byte, recordSize)
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, oobn, flags int
	var got error
	err := s.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, flags, _, got = unix.Recvmsg(int(fd), buf, oob, unix.MSG_CMSG_CLOEXEC)
			if got != unix.EINTR {
				return got != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = got
	}
	if err != nil {
		return record{}, err
	}
	var files []*os.File
	if oobn > 0 {
		files = receivedFiles(oob[:oobn])
	}
	r := decodeRecord(buf, files)
	switch {
	case n != recordSize || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = fmt.Errorf("a record of %d bytes and %d descriptors", n, len(files)) // 0: end of file
	case r.kind < recordDone || r.kind > recordFiles:
		err = fmt.Errorf("a record of the kind %d", r.kind)
	case len(files) > 0 && r.kind != recordFiles:
		err = fmt.Errorf("descriptors with a record of the kind %d", r.kind)
	}
	if err != nil {
		closeAll(files)
	}
	return r, err
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

func receivedFiles(oob []byte) (files []*os.File) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}
