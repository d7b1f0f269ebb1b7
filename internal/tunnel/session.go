package tunnel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Protocol is the WebSocket subprotocol that both sides must name.
const Protocol = "sandbox-container.v1"

const (
	// aliveEvery is how often each side shows that it is there: within what the
	// usual proxies take for an idle connection.
	aliveEvery = 10 * time.Second
	// silence is how long nothing may come, or nothing be taken, before the connection
	// counts as broken.
	silence = 40 * time.Second
)

// Session is one side of a connection.
type Session struct {
	conn   *websocket.Conn
	serve  func(*Call) Answer // of the far side; nil on the near one
	told   func(string) string
	quiet  *time.Timer
	ended  chan struct{}
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // of the connection, to its end
	// On the near side, places of calls: of those that go on for as long as they
	// like, and of those that are answered at once, which must never wait for the
	// others: a kill is one.
	long, quick chan struct{}
	opening     sync.Mutex    // numbers go over the wire in their order
	writing     chan struct{} // has one place: each frame has a time of its own

	mu    sync.Mutex
	calls map[uint32]*Call
	owed  int    // answers of the far side that are not sent, of calls that are over as well
	last  uint32 // the highest number of a call
	err   error
	going sync.WaitGroup // what serve does, and the loops
}

// Near begins the side that opens calls. told is how the words of the far side's errors are told on;
// nil is as they are.
func Near(ctx context.Context, conn *websocket.Conn, told func(string) string) *Session {
	return begin(ctx, conn, nil, told)
}

// Far begins the side that answers them. serve is called for each, in a goroutine of
// its own.
func Far(ctx context.Context, conn *websocket.Conn, serve func(*Call) Answer) *Session {
	return begin(ctx, conn, serve, nil)
}

func begin(ctx context.Context, conn *websocket.Conn, serve func(*Call) Answer, told func(string) string) *Session {
	conn.SetReadLimit(headerSize + MaxText)
	s := &Session{
		conn: conn, serve: serve, told: told, ended: make(chan struct{}),
		calls: map[uint32]*Call{}, writing: make(chan struct{}, 1), long: make(chan struct{}, maxCalls-quickCalls), quick: make(chan struct{}, quickCalls),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.quiet = time.AfterFunc(silence, func() { s.fail(fmt.Errorf("nothing was heard for %v", silence)) })
	context.AfterFunc(s.ctx, func() { s.fail(context.Cause(s.ctx)) })
	s.going.Go(s.readAll)
	s.going.Go(s.showLife)
	return s
}

// Done is closed when the connection is over.
func (s *Session) Done() <-chan struct{} { return s.ended }

// Err is why it is over.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close hangs up and returns when nothing of the session goes on.
func (s *Session) Close() {
	s.fail(ErrClosed)
	s.going.Wait()
}

// ErrClosed is the end of a connection by our own side.
var ErrClosed = errors.New("the connection was closed")

// fail ends the session, and every call of it.
func (s *Session) fail(err error) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err = err
	calls := s.calls
	s.calls = map[uint32]*Call{}
	s.mu.Unlock()
	s.quiet.Stop()
	s.cancel()
	_ = s.conn.CloseNow()
	for _, c := range calls {
		c.end(err)
	}
	close(s.ended)
}

func (s *Session) showLife() {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-ticker.C:
			_ = s.send(frame{kind: kindAlive})
		}
	}
}

// send sends a frame. It waits for the network alone: the other side takes what comes
// at once, or is hung up on.
func (s *Session) send(f frame) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-s.ended:
		return s.Err()
	}
	stuck := time.AfterFunc(silence, func() { s.fail(fmt.Errorf("nothing was taken for %v", silence)) })
	defer stuck.Stop()
	if err := s.conn.Write(s.ctx, websocket.MessageBinary, f.bytes()); err != nil {
		s.fail(fmt.Errorf("write to the connection: %w", err))
		return s.Err()
	}
	return nil
}

func (s *Session) readAll() {
	buffer := make([]byte, headerSize+maxData)
	for {
		message, err := s.readMessage(buffer)
		if err != nil {
			s.fail(fmt.Errorf("read from the connection: %w", err))
			return
		}
		s.quiet.Reset(silence)
		f, err := parseFrame(message)
		if err == nil {
			err = s.take(f)
		}
		if err != nil {
			s.fail(fmt.Errorf("the other side does not keep to the protocol: it sent %w", err))
			return
		}
	}
}

// readMessage reads one message, into buffer if it fits.
func (s *Session) readMessage(buffer []byte) ([]byte, error) {
	kind, r, err := s.conn.Reader(s.ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageBinary {
		return nil, errors.New("a message of text")
	}
	n := 0
	for {
		if n > headerSize+MaxText {
			return nil, errors.New("a message that is too large")
		}
		if n == len(buffer) {
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
		m, err := r.Read(buffer[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return buffer[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// take does what a frame says. It never waits.
func (s *Session) take(f frame) error {
	switch f.kind {
	case kindAlive:
		return nil
	case kindOpen:
		return s.accept(f)
	}
	s.mu.Lock()
	c, last := s.calls[f.call], s.last
	s.mu.Unlock()
	if c == nil {
		if f.call > last {
			return fmt.Errorf("a frame of the kind %d for the call %d, which was not opened", f.kind, f.call)
		}
		return nil // it is over, which the other side did not know yet
	}
	toUs := (f.channel == 0) == (s.serve != nil)
	switch {
	case f.kind == kindData && toUs:
		return c.in[f.channel].put(f.body)
	case f.kind == kindEnd && toUs:
		c.in[f.channel].finish(nil)
	case f.kind == kindCredit && !toUs:
		return c.out[f.channel].grant(int64(binary.BigEndian.Uint32(f.body)))
	case f.kind == kindCancel && s.serve != nil:
		c.end(context.Canceled)
	case (f.kind == kindBegun || f.kind == kindDone) && s.serve == nil:
		return c.answered(f)
	default:
		return fmt.Errorf("a frame of the kind %d, which is ours to send", f.kind)
	}
	return nil
}

// accept begins to serve a call.
func (s *Session) accept(f frame) error {
	if s.serve == nil {
		return errors.New("a call, which is ours to open")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case f.call <= s.last:
		return fmt.Errorf("call %d after call %d", f.call, s.last)
	case len(s.calls) >= maxCalls:
		return fmt.Errorf("more than %d calls at a time", maxCalls)
	case s.owed >= 2*maxCalls: // who takes no answers gets no more of them
		return fmt.Errorf("more than %d answers that nobody takes", 2*maxCalls)
	}
	s.owed++
	s.last = f.call
	c := newCall(s, f.call)
	c.request = append([]byte(nil), f.body...)
	s.calls[f.call] = c
	s.going.Go(func() {
		answer := s.serve(c)
		s.forget(c)
		c.end(ErrClosed)
		_ = s.send(frame{kind: kindDone, call: c.id, body: answer.bytes()})
		s.mu.Lock()
		s.owed--
		s.mu.Unlock()
	})
	return nil
}

// open begins a call.
func (s *Session) open(ctx context.Context, request []byte, places chan struct{}, patience time.Duration) (*Call, error) {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.ended:
		return nil, s.Err()
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return nil, s.err
	}
	s.last++
	c := newCall(s, s.last)
	c.places, c.patience = places, patience
	s.calls[c.id] = c
	s.mu.Unlock()
	return c, s.send(frame{kind: kindOpen, call: c.id, body: request})
}

// forget takes a call that is over out of the table.
func (s *Session) forget(c *Call) {
	s.mu.Lock()
	_, there := s.calls[c.id]
	delete(s.calls, c.id)
	s.mu.Unlock()
	if there && c.places != nil {
		<-c.places
	}
}
