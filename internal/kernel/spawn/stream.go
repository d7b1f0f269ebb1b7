package spawn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// StreamArgs is what an init is started with that is to serve its standard input
// and output.
var StreamArgs = []string{"sandbox-init", "stream"}

// DescriptorArgs is what an init is started with that is to end with the number of
// descriptors that it was given beside its standard ones; 99 stands for more.
var DescriptorArgs = []string{"sandbox-init", "stream", "descriptors"}

// InitProgram is the init for the architecture of this program, an ELF executable
// for Linux; it is empty where there is none.
func InitProgram() []byte { return initProgram }

// Stream serves an init that was started with [StreamArgs] elsewhere: conn is its
// standard input and output. Closing the server closes conn, upon which the init
// ends, and all that it holds.
//
// No descriptor passes, so programs send none. Their streams travel between the
// records; each of them in pieces, as far as they were asked for: an init that
// sends more is given up, so that nobody can make us remember what nobody reads.
func Stream(conn io.ReadWriteCloser) *Server { return serve(&byteStream{conn: conn}) }

// StreamFD is the descriptor that init has of a stream that it carries.
func StreamFD(stream int) int { return 5 + stream }

// byteStream is the way to an init without a socket.
type byteStream struct {
	conn    io.ReadWriteCloser
	writing sync.Mutex // messages come from several goroutines
}

func (b *byteStream) send(message []byte, files []int) error {
	if len(files) > 0 {
		return errors.New("no descriptor passes through a byte stream")
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	if _, err := b.conn.Write(message); err != nil {
		return ErrGone
	}
	return nil
}

// payloadAt is where a record says how many bytes follow it.
const payloadAt = recordSize - 8

func (b *byteStream) read() (record, error) {
	buf := make([]byte, recordSize)
	if _, err := io.ReadFull(b.conn, buf); err != nil {
		return record{}, err
	}
	r := decodeRecord(buf, nil)
	n := binary.NativeEndian.Uint64(buf[payloadAt:])
	switch {
	case r.kind < recordDone || r.kind > recordInput || r.kind == recordFiles:
		return r, fmt.Errorf("a record of the kind %d", r.kind)
	case n > maxMessage || n > 0 && r.kind != recordDone && r.kind != recordOutput:
		return r, fmt.Errorf("%d bytes with a record of the kind %d", n, r.kind)
	case n == 0:
		return r, nil
	}
	r.bytes = make([]byte, n)
	_, err := io.ReadFull(b.conn, r.bytes)
	return r, err
}

func (b *byteStream) hangUp() { _ = b.conn.Close() }

func (b *byteStream) close() error {
	_ = b.conn.Close() // may be closed already: the init has ended
	return nil
}

// window is how much of a stream is asked for ahead of its reader: what is in
// flight on a way of 1 ms at 500 MB/s.
const window = 512 << 10

// carried are the streams of the processes of a server.
type carried struct {
	server *Server

	mu      sync.Mutex
	readers [3]*Reader
	taken   chan syscall.Errno // the answer to the piece of input on its way
	gone    bool
}

func newCarried(s *Server) *carried {
	return &carried{server: s, taken: make(chan syscall.Errno, 1)}
}

// note takes what an init says of a stream.
func (c *carried) note(r record) error {
	if c == nil {
		return fmt.Errorf("a record of the kind %d", r.kind)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.kind == recordInput {
		select {
		case c.taken <- syscall.Errno(r.a):
			return nil
		default:
			return errors.New("input was taken that nobody gave")
		}
	}
	if r.a < 1 || r.a > 2 || c.readers[r.a] == nil {
		return fmt.Errorf("output of stream %d", r.a)
	}
	return c.readers[r.a].put(r.bytes)
}

// end ends every stream: the init is gone.
func (c *carried) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	close(c.taken)
	for _, r := range c.readers {
		if r != nil {
			r.end(ErrGone)
		}
	}
}

// Reader reads what a process writes to stream 1 or 2. It must be asked for after
// the program that carries the stream was done, and before the next one.
func (s *Server) Reader(stream int) *Reader {
	r := &Reader{server: s, stream: stream}
	r.cond = sync.NewCond(&r.mu)
	s.carried.mu.Lock()
	s.carried.readers[stream] = r
	gone := s.carried.gone
	s.carried.mu.Unlock()
	if gone {
		r.end(ErrGone)
	} else {
		r.grant(window)
	}
	return r
}

// Reader is a stream that a process writes. Its error is io.EOF when every
// process that had it is gone, and [ErrGone] when the init is.
type Reader struct {
	server *Server
	stream int

	mu      sync.Mutex
	cond    *sync.Cond
	pieces  [][]byte
	granted int // bytes that the init may still send
	closed  bool
	err     error
}

// Read implements [io.Reader].
func (r *Reader) Read(b []byte) (int, error) {
	r.mu.Lock()
	for len(r.pieces) == 0 && r.err == nil {
		r.cond.Wait()
	}
	if len(r.pieces) == 0 {
		defer r.mu.Unlock()
		return 0, r.err
	}
	n := 0
	for len(r.pieces) > 0 && n < len(b) { // a program that writes a byte at a time has a piece for each
		some := copy(b[n:], r.pieces[0])
		n += some
		if r.pieces[0] = r.pieces[0][some:]; len(r.pieces[0]) == 0 {
			r.pieces = r.pieces[1:]
		}
	}
	held := 0
	for _, p := range r.pieces {
		held += len(p)
	}
	want, ended := window-held-r.granted, r.err != nil
	r.mu.Unlock()
	if !ended && want >= window/2 { // one message for many pieces
		r.grant(want)
	}
	return n, nil
}

// grant asks the init for n bytes more.
func (r *Reader) grant(n int) {
	r.mu.Lock()
	r.granted += n
	r.mu.Unlock()
	_ = r.server.send(header(magicCredit, r.stream, n, headerSize), nil) // gone: the reader hears of it
}

// put adds a piece; none is the end.
func (r *Reader) put(piece []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed && len(piece) <= r.granted {
		r.granted -= len(piece)
		return nil
	}
	if len(piece) > r.granted || r.err != nil {
		return fmt.Errorf("%d bytes of output that nobody asked for", len(piece))
	}
	r.granted -= len(piece)
	if len(piece) == 0 {
		r.err = io.EOF
	} else {
		r.pieces = append(r.pieces, piece)
	}
	r.cond.Broadcast()
	return nil
}

// Close ends the stream behind what has come so far and a rest that came another
// way. It is for terminals, of which not every kernel tells that nobody writes to
// them any more.
func (r *Reader) Close(rest []byte) {
	r.mu.Lock()
	if len(rest) > 0 && r.err == nil {
		r.pieces = append(r.pieces, rest)
	}
	r.closed = true
	r.mu.Unlock()
	r.end(io.EOF)
}

func (r *Reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.cond.Broadcast()
}

// header is the fixed part of a message.
func header(magic, steps, relocs, size int) []byte {
	h := make([]byte, headerSize)
	for i, v := range []int{magic, 0, steps, relocs, 0, size} {
		binary.NativeEndian.PutUint32(h[4*i:], uint32(v))
	}
	return h
}

// Writer writes what a process reads. It must be asked for after the program that
// carries stream 0 was done, and closed before the next one: that is the end of
// the input.
func (s *Server) Writer() io.WriteCloser { return &writer{server: s} }

type writer struct {
	server *Server
	mu     sync.Mutex
	closed bool
}

// Write gives the process a piece after the other, and returns when it has taken
// them. The error is EPIPE when no process can read them any more.
func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := 0
	for len(b) > 0 {
		if w.closed {
			return total, io.ErrClosedPipe
		}
		piece := b[:min(len(b), chunk)]
		if err := w.give(piece); err != nil {
			return total, err
		}
		switch errno, ok := <-w.server.carried.taken; {
		case !ok:
			return total, ErrGone
		case errno != 0:
			return total, errno
		}
		total, b = total+len(piece), b[len(piece):]
	}
	return total, nil
}

// Close implements [io.Closer]. It waits for a write that is under way, which ends
// when nobody can read any more.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.give(nil)
}

func (w *writer) give(piece []byte) error {
	return w.server.send(append(header(magicInput, 0, 0, headerSize+len(piece)), piece...), nil)
}
