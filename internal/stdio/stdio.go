// Package stdio copies between the standard streams of a program and the readers
// and writers of who has started it, in the same way for every runtime.
package stdio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Feed copies the caller's input. It may outlive the program while the caller's
// reader blocks; what leads to the program is closed then, so it ends at the next
// byte. A terminal is told of the end instead of being closed: output comes from it.
// The error is why the program did not get what there was; that it has ended, or reads no
// more, is none.
func Feed(to io.WriteCloser, from io.Reader, terminal bool) error {
	w := writes{to: to}
	_, _ = io.Copy(&w, from)
	if terminal {
		_, _ = w.Write([]byte{4}) // end of input on a terminal, VEOF
	} else {
		_ = to.Close() // the program has ended, or reads its end of file
	}
	if errors.Is(w.err, syscall.EPIPE) || errors.Is(w.err, os.ErrClosed) || terminal && errors.Is(w.err, syscall.EIO) {
		return nil
	}
	return w.err
}

// writes remembers the first error. It hides ReadFrom, whose splice would move the caller's
// file offset past what the program has read.
type writes struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (w *writes) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// Output copies what one program writes.
type Output struct {
	// Fail is called when a writer has failed, once: nobody waits for what the
	// program has to say any more.
	Fail func()
	// Terminal says that what is read is a terminal.
	Terminal bool
	// Late is called by [Output.Wait] when a stream that is no file of ours does not end, and
	// sees to it that it does, at the latest until ended is closed; nil where they all do.
	Late func(ended <-chan struct{})

	copies sync.WaitGroup
	from   []io.Reader
	mu     sync.Mutex
	err    error // the first one of a writer
	held   atomic.Bool
	lost   error // the first one of a pipe that leads to the program or from it
}

// Copy begins to copy a stream until its end. When the writer fails, or is nil, the
// rest is read and dropped, so that the program's end is not held up.
func (o *Output) Copy(to io.Writer, from io.Reader) {
	o.from = append(o.from, from)
	o.copies.Go(func() { o.copy(to, from) })
}

// size is one read of a full pipe, and little what most programs write at a time, or while
// they wait.
const size, little = 64 << 10, 1 << 10

// gather is how long a program that writes much, a little at a time, may write more before
// that is read: else each little is a switch between its process and us.
const gather = 200 * time.Microsecond

func (o *Output) copy(to io.Writer, from io.Reader) {
	buf, done := make([]byte, little), func() {}
	defer func() { done() }()
	for {
		n, err := from.Read(buf)
		if n > 0 && to != nil {
			if _, failed := to.Write(buf[:n]); failed != nil {
				o.failed(failed)
				to = nil
			}
		}
		if err != nil {
			if from = o.behind(err, from); from == nil {
				return
			}
			continue
		}
		if n == little && n == len(buf) {
			buf = make([]byte, size)
			done = widen(from)
		}
		if len(buf) == size && n < size/2 {
			<-time.After(gather)
		}
	}
}

// behind is where to read on behind an error, or nil.
func (o *Output) behind(err error, from io.Reader) io.Reader {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return restOf(from, o.held.Load())
	case !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) && !o.hungUp(err):
		o.lose(fmt.Errorf("read the program's output: %w", err))
	}
	return nil
}

// Feed is [Feed] beside the copies, whose error is told with theirs.
func (o *Output) Feed(to io.WriteCloser, from io.Reader) {
	go func() {
		if err := Feed(to, from, o.Terminal); err != nil {
			o.lose(fmt.Errorf("write the program's input: %w", err))
		}
	}()
}

func (o *Output) lose(err error) {
	o.mu.Lock()
	o.lost = cmp.Or(o.lost, err)
	o.mu.Unlock()
	o.Fail()
}

// hungUp tells whether an error is the end of a terminal whose other side is gone.
func (o *Output) hungUp(err error) bool { return o.Terminal && errors.Is(err, syscall.EIO) }

func (o *Output) failed(err error) {
	o.mu.Lock()
	first := o.err == nil
	if first {
		o.err = err
	}
	o.mu.Unlock()
	if first {
		o.Fail()
	}
}

// Held tells before [Output.Wait] that whoever could write is held and not dead: its streams do not end, and what
// is there now is all there will be.
func (o *Output) Held() {
	o.held.Store(true)
	for _, from := range o.from {
		hurry(from)
	}
}

// late is after what time a stream is taken for one that does not end by itself.
const late = 200 * time.Millisecond

// Wait waits until everything that was written has been copied, and returns the
// first error of a writer. Whoever could write must be dead: then what is there is
// all there will be. It waits for no end of a stream that has none, since its other
// end is held by nobody who runs: a program can send it over a socket that is in
// flight itself, through itself, and the kernel frees such a ring when some socket
// is next closed on the machine (unix_gc, net/unix/garbage.c).
func (o *Output) Wait() error {
	ended, seen := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(late, func() {
		defer close(seen)
		if !o.held.Load() { // else that is done, and who writes takes long
			for _, from := range o.from {
				hurry(from)
			}
		}
		if o.Late != nil {
			o.Late(ended)
		}
	})
	o.copies.Wait()
	close(ended)
	if !timer.Stop() {
		<-seen
	}
	return o.err
}

// Lost is why something that the program has written could not be read, or something that
// it was to read not written, or nil. It is known after [Output.Wait].
func (o *Output) Lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}
