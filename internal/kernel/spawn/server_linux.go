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
	replies chan record
	closed  chan struct{}
	closing sync.Once

	mu    sync.Mutex
	cond  *sync.Cond // signals changes of the fields below
	exits map[int]Exit
	doing *Program // the last that was sent
	busy  bool     // a child was forked and no IDLE came since
	gone  bool
}

type record struct {
	kind, seq uint32
	a, b      int32
	usage     [9]uint64
	files     []*os.File
}

func newServer(fd, pid int) *Server {
	s := &Server{
		pid:     pid,
		conn:    os.NewFile(uintptr(fd), "init"),
		replies: make(chan record, 4),
		closed:  make(chan struct{}),
		exits:   map[int]Exit{},
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
	s.mu.Lock()
	s.doing = p
	s.mu.Unlock()
	if err := s.send(message, p.files); err != nil {
		return Reply{}, err
	}
	return s.reply(p)
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

// reply collects what comes back for the program that was just sent.
func (s *Server) reply(p *Program) (reply Reply, err error) {
	for r := range s.replies {
		switch {
		case r.kind == recordFiles:
			reply.Files = append(reply.Files, r.files...)
			continue
		case r.seq != s.seq:
			continue
		case r.kind == recordFailed && err == nil:
			err = &StepError{p.name(int(r.a)), syscall.Errno(r.b)}
			if p.inFork(int(r.a)) {
				continue // the child failed; init says DONE
			}
		case r.kind == recordDone:
			reply.PID = int(r.a)
		}
		if err != nil {
			closeAll(reply.Files)
			reply.Files = nil
		}
		return reply, err
	}
	closeAll(reply.Files)
	return Reply{}, ErrGone
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
		if e, ok := s.exits[pid]; ok {
			delete(s.exits, pid)
			return e, nil
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

// receive reads records until the init is gone.
func (s *Server) receive() {
	for {
		r, err := s.read()
		if err != nil {
			break
		}
		switch r.kind {
		case recordExit:
			s.exited(r)
		case recordIdle:
			s.mu.Lock()
			s.busy = false
			s.cond.Broadcast()
			s.mu.Unlock()
		default:
			s.noteFork(r)
			select {
			case s.replies <- r:
			case <-s.closed:
				closeAll(r.files)
			}
		}
	}
	s.mu.Lock()
	s.gone = true
	s.cond.Broadcast()
	s.mu.Unlock()
	close(s.replies)
}

// noteFork keeps in mind that a child lives. A program that failed has left one
// only if it came past a fork; an IDLE for it comes after the record in any case.
func (s *Server) noteFork(r record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.kind == recordDone && r.a > 0 || r.kind == recordFailed && s.doing.forkedBefore(int(r.a)) {
		s.busy = true
	}
}

// forkedBefore tells whether a fork and all of its child's steps lie before a
// step.
func (p *Program) forkedBefore(step int) bool {
	if p == nil {
		return false
	}
	for i := range p.steps {
		if s := p.steps[i]; s.flags&stepFork != 0 && i+int(s.skip) < step {
			return true
		}
	}
	return false
}

func (s *Server) exited(r record) {
	u := r.usage
	us := func(i int) time.Duration { return time.Duration(u[i]) * time.Microsecond }
	e := Exit{PID: int(r.a), Status: syscall.WaitStatus(r.b), Usage: Usage{
		User: us(0), System: us(1), MaxRSSBytes: int64(u[2]) << 10,
		MinorFaults: int64(u[3]), MajorFaults: int64(u[4]), InBlocks: int64(u[5]), OutBlocks: int64(u[6]),
		VoluntarySwitches: int64(u[7]), Switches: int64(u[8]),
	}}
	s.mu.Lock()
	s.exits[e.PID] = e
	s.cond.Broadcast()
	s.mu.Unlock()
}

// read reads one record and the descriptors that came with it.
func (s *Server) read() (record, error) {
	buf := make([]byte, recordSize)
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, oobn int
	var got error
	err := s.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, _, _, got = unix.Recvmsg(int(fd), buf, oob, unix.MSG_CMSG_CLOEXEC)
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
	if n != recordSize {
		closeAll(files)
		return record{}, fmt.Errorf("a record of %d bytes", n) // 0: end of file
	}
	r := decodeRecord(buf, files)
	if r.kind < recordDone || r.kind > recordFiles {
		closeAll(files)
		return record{}, fmt.Errorf("a record of the kind %d", r.kind)
	}
	return r, nil
}

func decodeRecord(buf []byte, files []*os.File) record {
	e := binary.NativeEndian
	r := record{kind: e.Uint32(buf), seq: e.Uint32(buf[4:]), a: int32(e.Uint32(buf[8:])), b: int32(e.Uint32(buf[12:])), files: files}
	for i := range r.usage {
		r.usage[i] = e.Uint64(buf[16+8*i:])
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
