package sandbox

import (
	"errors"
	"io"
	"strconv"
	"sync"
	"time"
)

// again is what a program says and is told that waits more than once ([Ahead.Again]).
type again struct {
	input *io.PipeWriter

	mu    sync.Mutex
	state turnState
	ready chan struct{} // closed when it waits
	said  []byte        // of the turn, as far as it has come
	turn  *turn
	odd   bool // it has said something besides: nobody knows what it is by now

	speaking sync.Mutex // what it says on standard error, and what its work has said
}

type turnState int

const (
	turnStarts turnState = iota // or cleans up: it is about to say that it waits
	turnWaits
	turnWorks
	turnDone
)

// turn is one work of a program that waits more than once.
type turn struct {
	done   chan struct{} // closed when what follows is known
	stderr []byte
	code   int
}

// How a turn ends, on the program's standard output: how many bytes it has to say, those
// bytes, which are the process's standard error, and its exit code. Numbers are hexadecimal
// digits.
const (
	turnHeader  = 8
	turnTrailer = 4
	maxTurn     = 4 << 20 // bytes that it may have to say
)

// newAgain makes it, with the program's standard input.
func newAgain() (*again, io.Reader) {
	r, w := io.Pipe()
	return &again{input: w, ready: make(chan struct{})}, r
}

// hear takes what the program writes.
func (a *again) hear(b []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.state {
	case turnStarts:
		if len(b) != 1 || b[0] != Waiting {
			return errNotWaiting
		}
		a.state = turnWaits
		close(a.ready)
		return nil
	case turnWorks:
		a.said = append(a.said, b...)
		if err := a.end(); err != nil {
			a.odd = true
			return err
		}
		return nil
	default:
		a.odd = true
		return errNotWaiting
	}
}

// errTurn is an end of a turn that is none.
var errTurn = errors.New("a program that waits again did not say how its work ended")

// end ends the turn when all of it was said. The caller holds mu.
func (a *again) end() error {
	if len(a.said) < turnHeader {
		return nil
	}
	size, err := strconv.ParseUint(string(a.said[:turnHeader]), 16, 32)
	if err != nil || size > maxTurn {
		return errTurn
	}
	whole := turnHeader + int(size) + turnTrailer
	if len(a.said) < whole {
		return nil
	}
	code, err := strconv.ParseUint(string(a.said[whole-turnTrailer:whole]), 16, 8)
	if err != nil || len(a.said) > whole {
		return errTurn
	}
	a.turn.stderr, a.turn.code = a.said[turnHeader:whole-turnTrailer], int(code)
	a.state, a.said = turnDone, nil
	close(a.turn.done)
	return nil
}

// begin tells it its work.
func (a *again) begin(work []byte) *turn {
	t := &turn{done: make(chan struct{})}
	a.mu.Lock()
	a.state, a.turn = turnWorks, t
	a.mu.Unlock()
	go func() { _, _ = a.input.Write(work) }() // it fails when the program has ended
	return t
}

// tidy has it clean up and wait. The answer is nil where its work is not done, and else
// closed when it waits.
func (a *again) tidy() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != turnDone || a.odd {
		return nil
	}
	a.state, a.ready = turnStarts, make(chan struct{})
	go func() { _, _ = a.input.Write([]byte{Waiting}) }()
	return a.ready
}

// words is what it says on standard error while it works: of its virtual machine, and not of
// its work. Before and after it has nothing to say.
func (a *again) words(to io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		a.speaking.Lock()
		defer a.speaking.Unlock()
		a.mu.Lock()
		works := a.state == turnWorks
		a.odd = true
		a.mu.Unlock()
		if !works {
			return 0, errNotWaiting
		}
		if to == nil {
			return len(b), nil
		}
		return to.Write(b)
	})
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// rest is what it had said of a turn that it did not end.
func (a *again) rest() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said
}

// resumedTurn is a turn as a process.
type resumedTurn struct {
	Running
	waiting *waiting
	turn    *turn
	process Process
	began   time.Time
	before  Metrics

	once sync.Once
	exit Exit
	err  error
}

// Wait implements [Running].
func (r *resumedTurn) Wait() (Exit, error) {
	r.once.Do(func() {
		select {
		case <-r.turn.done:
			r.ended()
		case <-r.waiting.ended:
			r.died()
			r.exit.Metrics.MemoryBytes, r.exit.Metrics.Processes = nil, nil // those of nobody
		}
		r.exit.Ahead = true
		r.exit.Metrics = r.exit.Metrics.without(r.before)
	})
	return r.exit, r.err
}

// died is the exit of a program that did not end its work. What it said in the place of that
// is for who reads why.
func (r *resumedTurn) died() {
	r.exit, r.err = r.waiting.exit, r.waiting.err
	r.exit.Duration = max(r.exit.Ended.Sub(r.began), 0)
	if errors.Is(r.exit.WriteError, errTurn) || errors.Is(r.exit.WriteError, errNotWaiting) {
		r.exit.WriteError, r.exit.Signal, r.exit.Code = nil, 0, 1 // it was ended for that
	}
	if said := r.waiting.again.rest(); len(said) > 0 && r.process.Stderr != nil && r.exit.WriteError == nil {
		_, r.exit.WriteError = r.process.Stderr.Write(said)
	}
}

// ended is the exit of a program that goes on.
func (r *resumedTurn) ended() {
	r.exit.Ended, r.exit.Code = time.Now(), r.turn.code
	r.exit.Duration = r.exit.Ended.Sub(r.began)
	r.exit.Metrics, r.err = r.Running.Metrics()
	if r.process.Stderr != nil {
		again := r.waiting.again
		again.speaking.Lock()
		defer again.speaking.Unlock()
		_, r.exit.WriteError = r.process.Stderr.Write(r.turn.stderr)
	}
}

// Metrics implements [Running].
func (r *resumedTurn) Metrics() (Metrics, error) {
	m, err := r.Running.Metrics()
	return m.without(r.before), err
}
