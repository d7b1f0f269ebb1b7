package relay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Config is what a relay needs. Of the bounds, zero means the default.
type Config struct {
	// Policy decides. It must not be nil.
	Policy *Policy
	// Resolver looks names up outside; nil is this host's.
	Resolver Resolver
	// Destination tells what an accepted connection was made to; nil takes its
	// local address.
	Destination func(net.Conn) (netip.AddrPort, error)
	// Proxy chooses the HTTP proxy for a URL, of which only scheme and host are
	// set; nil, or a nil answer, connects directly. It is the ProxyFunc of
	// golang.org/x/net/http/httpproxy. A proxy looks names up itself, so what a
	// name resolves to is checked only as far as this host can resolve it, and
	// one that it cannot has to be named in the allow-list.
	Proxy func(*url.URL) (*url.URL, error)
	// MaxConnections are open at once (128). Each may hold up to a megabyte in
	// buffers that no container is charged for.
	MaxConnections int
	// MaxNames are looked up over the relay's life (4096), whether there are such or not, and
	// MaxQueries are answered for names that are not allowed (256, ten a second).
	MaxNames, MaxQueries int
	// DialTimeout is for one connection, with all addresses of a name (10 s).
	DialTimeout time.Duration
	// IdleTimeout ends connections on which nothing moves (15 min).
	IdleTimeout time.Duration
}

// A program that only connects, or only asks for names, would take our processor
// time instead of its own, and this host's name servers for its own. So each has
// a pace: so many a second, and so many at once.
const (
	connRate, connBurst     = 1000, 1000
	askRate, askBurst       = 1000, 1000 // questions
	lookupRate, lookupBurst = 100, 256   // of them, those that we have to ask outside
	queryRate, queryBurst   = 10, 32     // of these, names that are not allowed
)

// Relay serves one container. It is safe for concurrent use.
type Relay struct {
	config Config
	ctx    context.Context // of everything that the relay waits for
	cancel context.CancelFunc

	slots chan struct{} // one for each open connection
	names names

	connPace, askPace, lookupPace, queryPace *rate.Limiter

	violations, failures, queries lines
	connections, sent, received   atomic.Int64
	asked, newNames               atomic.Int64
	outgoing                      atomic.Int64 // connections that are being made, or have more to send

	ownMu    sync.Mutex
	own      []netip.Prefix
	ownUntil time.Time

	running sync.WaitGroup
	mu      sync.Mutex // guards the fields below
	held    map[io.Closer]struct{}
	done    bool
}

// New makes a relay. It has to be closed; when the context ends before, nothing
// is looked up or connected to any more.
func New(ctx context.Context, config Config) *Relay {
	config.MaxConnections = cmp.Or(config.MaxConnections, 128)
	if fault.Off("relay", "connections at once") {
		config.MaxConnections <<= 10
	}
	config.MaxNames = min(cmp.Or(config.MaxNames, 4096), 1<<16)
	config.MaxQueries = cmp.Or(config.MaxQueries, 256)
	config.DialTimeout = cmp.Or(config.DialTimeout, 10*time.Second)
	config.IdleTimeout = cmp.Or(config.IdleTimeout, 15*time.Minute)
	if config.Resolver == nil {
		config.Resolver = net.DefaultResolver
	}
	if config.Destination == nil {
		config.Destination = localAddress
	}
	r := &Relay{
		config:     config,
		slots:      make(chan struct{}, config.MaxConnections),
		connPace:   rate.NewLimiter(connRate, connBurst),
		askPace:    rate.NewLimiter(askRate, askBurst),
		lookupPace: rate.NewLimiter(lookupRate, lookupBurst),
		queryPace:  rate.NewLimiter(queryRate, queryBurst),
		violations: lines{limit: maxLines},
		failures:   lines{limit: maxLines},
		queries:    lines{limit: config.MaxQueries},
		held:       map[io.Closer]struct{}{},
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

func localAddress(conn net.Conn) (netip.AddrPort, error) {
	return netip.ParseAddrPort(conn.LocalAddr().String())
}

// Serve relays the connections of a listener until the relay is closed, which
// closes the listener. It returns at once. What connects to port 53 gets the
// name server.
func (r *Relay) Serve(listener net.Listener) {
	r.start(listener, func() { r.accept(listener) })
}

// Sending tells whether connections are being made, or have not sent yet all that their
// programs have.
func (r *Relay) Sending() bool { return r.outgoing.Load() > 0 }

// Close ends every connection and returns when nothing of the relay runs any
// more. Its report stays. What was not sent to its end is broken off, and what was not
// connected yet has failed.
func (r *Relay) Close() {
	r.mu.Lock()
	r.done = true
	r.cancel()
	for c := range r.held {
		_ = c.Close()
	}
	clear(r.held)
	r.mu.Unlock()
	r.running.Wait()
}

// start runs something that serves c, unless the relay is closed already.
func (r *Relay) start(c io.Closer, serve func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holdLocked(c) {
		return false
	}
	r.running.Go(serve)
	return true
}

// hold keeps something for Close to close. After Close it closes it and is
// false.
func (r *Relay) hold(c io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holdLocked(c)
}

func (r *Relay) holdLocked(c io.Closer) bool {
	if r.done {
		_ = c.Close()
		return false
	}
	r.held[c] = struct{}{}
	return true
}

// release closes what was held.
func (r *Relay) release(c io.Closer) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, c)
}

// pause waits out an error of a listener that may pass, such as too many open
// files. It is false when the listener is of no use any more.
func (r *Relay) pause(err error) bool {
	if errors.Is(err, net.ErrClosed) {
		return false
	}
	timer := time.NewTimer(10 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (r *Relay) accept(listener net.Listener) {
	defer r.release(listener)
	for {
		conn, err := listener.Accept()
		if err != nil {
			if r.pause(err) {
				continue
			}
			return
		}
		closed := !r.Pace() // nobody waits for the last one, but what is refused is noted
		r.take(conn, func(sent func()) {
			to, err := r.config.Destination(conn)
			if err != nil {
				r.failures.add("connection without a destination: %v", err)
				reset(conn)
				return
			}
			r.handle(conn, to, sent)
		})
		if closed {
			return
		}
	}
}

// Pace waits until a program may try the next connection. It is false when the
// relay is closed.
func (r *Relay) Pace() bool { return r.connPace.Wait(r.ctx) == nil }

// Carry relays a connection that somebody else has accepted, to where its
// program wanted to go, as [Relay.Serve] does. It returns at once, and conn is
// the relay's to close.
func (r *Relay) Carry(conn net.Conn, to netip.AddrPort) {
	r.take(conn, func(sent func()) { r.handle(conn, to, sent) })
}

// AnswerMessages is the name server on a connection that keeps messages apart.
// It returns at once, and conn is the relay's to close; done is called when it
// answers no more.
func (r *Relay) AnswerMessages(conn net.Conn, done func()) {
	answer := func(sent func()) {
		defer done()
		sent() // it waits for questions as long as there may be some
		r.answerMessages(conn)
	}
	if !r.take(conn, answer) {
		done()
	}
}

// Refuse notes what somebody else has refused in the relay's place.
func (r *Relay) Refuse(format string, args ...any) { r.violations.add(format, args...) }

// Failed notes what was allowed and did not work before it came to the relay.
func (r *Relay) Failed(format string, args ...any) { r.failures.add(format, args...) }

// take serves a connection while there is room for one. When the relay is closed, it
// has the connection closed before it is served, which only notes what is refused. serve calls sent
// when the program has nothing more to send, or leaves that to its end.
func (r *Relay) take(conn net.Conn, serve func(sent func())) bool {
	select {
	case r.slots <- struct{}{}:
	default:
		r.violations.add("connection refused: %d are open already, the most at once", r.config.MaxConnections)
		reset(conn)
		return false
	}
	r.outgoing.Add(1)
	sent := sync.OnceFunc(func() { r.outgoing.Add(-1) })
	run := func() {
		defer func() { <-r.slots }()
		defer r.release(conn)
		defer sent()
		serve(sent)
	}
	if !r.start(conn, run) {
		run()
	}
	return true
}

// handle gives one connection what it was made for.
func (r *Relay) handle(conn net.Conn, to netip.AddrPort, sent func()) {
	if to.Port() == dnsPort {
		sent() // questions are no last words
		r.answerStream(conn)
		return
	}
	if err := r.connect(conn, to, sent); err != nil {
		reset(conn)
	}
}

const dnsPort = 53

// reset ends a connection so that the program's next call fails at once.
func reset(conn net.Conn) {
	if l, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = conn.Close()
}
