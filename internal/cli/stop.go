package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// stuckWait is how long after the first signal a reader that does not read is
// given up, and how long each write may take from then on.
const stuckWait = time.Second

// stopper turns the first signal into the end of the run's context. Later
// signals never kill us: the engine has to delete what it made. They only stop
// us waiting for a reader that does not read.
type stopper struct {
	ctx    context.Context
	cancel context.CancelFunc
	// giveUp is closed when blocked writes are to be abandoned.
	giveUp  chan struct{}
	abandon func()
	wait    time.Duration

	signals chan os.Signal
	done    chan struct{}
	mu      sync.Mutex
	first   os.Signal
}

// newStopper takes over SIGINT, SIGTERM and SIGHUP, but not where our parent
// ignores them (nohup, background jobs). SIGPIPE is caught so that a write to
// a closed pipe is an error and not our death; it is not ignored, because
// ignoring is inherited by programs that are started.
func newStopper() *stopper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopper{
		ctx: ctx, cancel: cancel, giveUp: make(chan struct{}), wait: stuckWait,
		signals: make(chan os.Signal, 4), done: make(chan struct{}),
	}
	s.abandon = sync.OnceFunc(func() { close(s.giveUp) })
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.signals, sig)
		}
	}
	signal.Notify(s.signals, sigPipe)
	go s.watch()
	return s
}

func (s *stopper) watch() {
	for {
		select {
		case sig := <-s.signals:
			if sig != sigPipe {
				s.stop(sig)
			}
		case <-s.done:
			return
		}
	}
}

func (s *stopper) stop(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.abandon()
		return
	}
	s.first = sig
	s.cancel()
	time.AfterFunc(s.wait, s.abandon)
}

// signal is the one that stopped the run, or nil.
func (s *stopper) signal() os.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// reading does what reads the user's files. Any of them may be a pipe that nobody
// writes to, and nothing interrupts who waits for that: a signal leaves it behind.
func (s *stopper) reading(read func() error) error {
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		return errQuiet{signalCode(s.signal())}
	}
}

// release gives the signals back, unless one has come: what was opened is yet to be closed
// then, and the next one would end us in the middle of that.
func (s *stopper) release() {
	if s.signal() == nil {
		signal.Stop(s.signals)
	}
	close(s.done)
	s.cancel()
}

var (
	errStuck = errors.New("the reader of our output does not read")
	errGone  = errors.New("the reader of our output went away")
)

// patientWriter writes in the background, so that a reader that stopped
// reading cannot keep a signal from ending the run. It is not safe for
// concurrent use.
type patientWriter struct {
	w       io.Writer
	giveUp  <-chan struct{}
	started bool
	chunks  chan string
	results chan error
	failed  error
}

func newPatientWriter(w io.Writer, giveUp <-chan struct{}) *patientWriter {
	return &patientWriter{w: w, giveUp: giveUp, chunks: make(chan string), results: make(chan error, 1)}
}

// Write writes p or fails for good: with errGone when nobody reads any more,
// with errStuck when nobody reads and a signal came.
func (p *patientWriter) Write(data []byte) (int, error) { return p.WriteString(string(data)) }

// WriteString is Write of what nobody changes, and so of no copy.
func (p *patientWriter) WriteString(data string) (int, error) {
	if p.failed != nil {
		return 0, p.failed
	}
	if !p.started {
		p.started = true
		go p.loop()
	}
	begin := time.Now()
	p.chunks <- data
	select {
	case p.failed = <-p.results:
	case <-p.giveUp:
		select { // what is first written long after the signal has its time too
		case p.failed = <-p.results:
		case <-time.After(stuckWait - time.Since(begin)):
			p.failed = errStuck
		}
	}
	if isBrokenPipe(p.failed) {
		p.failed = errGone
	}
	if p.failed != nil {
		return 0, p.failed
	}
	return len(data), nil
}

func (p *patientWriter) loop() {
	for chunk := range p.chunks {
		_, err := io.WriteString(p.w, chunk)
		p.results <- err
	}
}

func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE)
}
