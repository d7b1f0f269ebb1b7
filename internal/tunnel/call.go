package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Call is one request, its channels and its answers.
type Call struct {
	session *Session
	id      uint32
	request []byte        // on the far side
	places  chan struct{} // on the near side: where it has a place
	in      [channels]*inlet
	out     [channels]*outlet
	// patience is how long the near side waits for anything to come of the call; 0
	// is for ever, as a program may take.
	patience time.Duration
	ctx      context.Context //nolint:containedctx // of the call, to its end
	cancel   context.CancelFunc

	begun, done chan []byte // at most one answer each
	over        chan struct{}
	once        sync.Once
}

func newCall(s *Session, id uint32) *Call {
	c := &Call{session: s, id: id, begun: make(chan []byte, 1), done: make(chan []byte, 1), over: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	for i := range channels {
		c.in[i], c.out[i] = newInlet(c, byte(i)), newOutlet(c, byte(i))
	}
	return c
}

// Context is done when nobody waits for the answer any more.
func (c *Call) Context() context.Context { return c.ctx }

// ID tells the call apart from others of its session.
func (c *Call) ID() uint32 { return c.id }

// Reader is a channel that the other side writes.
func (c *Call) Reader(channel int) io.Reader { return c.in[channel] }

// Writer is a channel that the other side reads. Closing it is its end.
func (c *Call) Writer(channel int) io.WriteCloser { return c.out[channel] }

// end ends the channels: what has arrived can still be read.
func (c *Call) end(err error) {
	c.once.Do(func() {
		c.cancel()
		for i := range channels {
			c.in[i].finish(err)
			c.out[i].finish(err)
		}
		close(c.over)
	})
}

// answered takes an answer.
func (c *Call) answered(f frame) error {
	to := c.begun
	if f.kind == kindDone {
		to = c.done
	}
	select {
	case to <- append([]byte(nil), f.body...):
	default:
		return fmt.Errorf("a second answer to call %d", c.id)
	}
	if f.kind == kindDone {
		c.session.forget(c)
		c.end(nil)
	}
	return nil
}

// Begun tells the near side something before the end of a call.
func (c *Call) Begun(a Answer) error {
	return c.session.send(frame{kind: kindBegun, call: c.id, body: a.bytes()})
}

// Start opens a call that streams.
func (s *Session) Start(ctx context.Context, r Request) (*Call, error) {
	text, err := r.bytes()
	if err != nil {
		return nil, err
	}
	patience := answerPatience
	if r.Op == OpStart {
		patience = 0
	}
	return s.open(ctx, text, s.long, patience)
}

const (
	// answerPatience is how long a far side may be silent about what takes no time,
	// and longPatience about what has to wait for a place or an image.
	answerPatience = 2 * time.Minute
	longPatience   = 15 * time.Minute
)

// impatient hangs up if nothing comes until the timer is stopped: a far side that
// shows life and does nothing would hold up the near one for ever.
func (c *Call) impatient(d time.Duration) (stop func() bool) {
	if d == 0 {
		return func() bool { return true }
	}
	return c.hangUpAfter(d, d)
}

// hangUpAfter does so after a time, of which some may have passed before.
func (c *Call) hangUpAfter(d, whole time.Duration) (stop func() bool) {
	return time.AfterFunc(d, func() { c.session.fail(fmt.Errorf("the other server has kept us waiting for %v", whole)) }).Stop
}

// Hurry hangs up unless the call ends soon: its program was killed.
func (c *Call) Hurry() {
	stop := c.impatient(answerPatience)
	context.AfterFunc(c.ctx, func() { stop() })
}

// enough is what fills up the patience with a channel, in bytes.
const enough = 64 << 10

// waits adds up how long one channel has kept us waiting since enough has passed through
// it: a byte now and then must not hold up the near side for ever.
type waits struct {
	so    time.Duration
	bytes int
}

// begin is called before a wait, and what it returns behind it.
func (w *waits) begin(c *Call) (end func()) {
	if c.patience == 0 {
		return func() {}
	}
	since, stop := time.Now(), c.hangUpAfter(c.patience-w.so, c.patience)
	return func() {
		stop()
		w.so += time.Since(since)
	}
}

func (w *waits) passed(n int) {
	if w.bytes += n; w.bytes >= enough {
		*w = waits{}
	}
}

// Do opens a call that is answered at once, and waits for that.
func (s *Session) Do(ctx context.Context, r Request) (Answer, error) {
	text, err := r.bytes()
	if err != nil {
		return Answer{}, err
	}
	patience := answerPatience
	if r.Op == OpCreate {
		patience = longPatience
	}
	c, err := s.open(ctx, text, s.quick, patience)
	if err != nil {
		return Answer{}, err
	}
	return c.Wait(ctx)
}

// WaitBegun waits for what is told before the end. It is false when the call has
// ended without.
func (c *Call) WaitBegun(ctx context.Context) (Answer, bool, error) {
	defer c.impatient(cmp.Or(c.patience, longPatience))()
	select {
	case text := <-c.begun:
		a, err := parseAnswer(text, c.session.told)
		return a, true, err
	case <-c.over:
	case <-ctx.Done():
		c.Cancel()
		return Answer{}, false, context.Cause(ctx)
	}
	select {
	case text := <-c.begun:
		a, err := parseAnswer(text, c.session.told)
		return a, true, err
	default:
		a, err := c.Wait(ctx)
		return a, false, err
	}
}

// Wait waits for the last answer. Its error is the far side's, if it says one.
func (c *Call) Wait(ctx context.Context) (Answer, error) {
	defer c.impatient(c.patience)()
	select {
	case <-c.over:
	case <-ctx.Done():
		c.Cancel()
		return Answer{}, context.Cause(ctx)
	}
	select {
	case text := <-c.done:
		return parseAnswer(text, c.session.told)
	default:
		return Answer{}, c.session.Err()
	}
}

// Cancel says that nobody waits for the answer, which gives its place back and must come soon.
func (c *Call) Cancel() {
	c.Hurry()
	_ = c.session.send(frame{kind: kindCancel, call: c.id})
}

// inlet is what has arrived of a channel and was not read yet.
type inlet struct {
	call    *Call
	channel byte

	mu     sync.Mutex
	more   sync.Cond
	data   []byte
	credit int // of the other side
	owed   int // was read, and is not granted again yet
	waits  waits
	ended  bool
	err    error // instead of the end
}

func newInlet(c *Call, channel byte) *inlet {
	r := &inlet{call: c, channel: channel, credit: Window}
	r.more.L = &r.mu
	return r
}

func (r *inlet) put(data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(data) > r.credit {
		return fmt.Errorf("%d bytes of a channel, with credit for %d", len(data), r.credit)
	}
	if r.ended {
		return errors.New("bytes behind the end of a channel")
	}
	r.credit -= len(data)
	r.data = append(r.data, data...)
	r.more.Broadcast()
	return nil
}

func (r *inlet) finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.err = true, err
	}
	r.more.Broadcast()
}

// Read implements [io.Reader].
func (r *inlet) Read(p []byte) (int, error) {
	n, grant, err := r.read(p)
	if grant > 0 {
		_ = r.call.session.send(creditFrame(r.call.id, r.channel, grant))
	}
	return n, err
}

func (r *inlet) read(p []byte) (n, grant int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.data) == 0 && !r.ended {
		end := r.waits.begin(r.call)
		for len(r.data) == 0 && !r.ended {
			r.more.Wait()
		}
		end()
	}
	if len(r.data) == 0 {
		if r.err != nil {
			return 0, 0, r.err
		}
		return 0, 0, io.EOF
	}
	n = copy(p, r.data)
	r.waits.passed(n)
	if r.data = r.data[n:]; len(r.data) == 0 {
		r.data = nil
	}
	if r.owed += n; r.owed < Window/2 || r.ended {
		return n, 0, nil
	}
	grant, r.owed = r.owed, 0
	r.credit += grant
	return n, grant, nil
}

// outlet is the writing end of a channel.
type outlet struct {
	call    *Call
	channel byte

	mu     sync.Mutex
	more   sync.Cond
	credit int
	waits  waits
	err    error
}

func newOutlet(c *Call, channel byte) *outlet {
	w := &outlet{call: c, channel: channel, credit: Window}
	w.more.L = &w.mu
	return w
}

func (w *outlet) grant(n int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 1 || n > int64(Window-w.credit) {
		return fmt.Errorf("credit for %d bytes more, where %d are the most", n, Window-w.credit)
	}
	w.credit += int(n)
	w.more.Broadcast()
	return nil
}

func (w *outlet) finish(err error) {
	if err == nil {
		err = ErrClosed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.more.Broadcast()
}

// Write implements [io.Writer]. It waits for credit.
func (w *outlet) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		n, err := w.take(min(len(p), maxData))
		if err != nil {
			return written, err
		}
		if err := w.call.session.send(frame{kind: kindData, channel: w.channel, call: w.call.id, body: p[:n]}); err != nil {
			return written, err
		}
		p, written = p[n:], written+n
	}
	return written, nil
}

func (w *outlet) take(most int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.credit == 0 && w.err == nil {
		end := w.waits.begin(w.call)
		for w.credit == 0 && w.err == nil {
			w.more.Wait()
		}
		end()
	}
	if w.err != nil {
		return 0, w.err
	}
	n := min(most, w.credit)
	w.credit -= n
	w.waits.passed(n)
	return n, nil
}

// Close is the end of the channel.
func (w *outlet) Close() error {
	w.mu.Lock()
	ended := w.err != nil
	w.mu.Unlock()
	if ended {
		return nil
	}
	w.finish(ErrClosed)
	return w.call.session.send(frame{kind: kindEnd, channel: w.channel, call: w.call.id})
}
