package stdio_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/stdio"
)

// pipe is what leads to a program.
type pipe struct {
	strings.Builder
	closed bool
}

func (p *pipe) Close() error {
	p.closed = true
	return nil
}

func TestFeed(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		want     string
	}{{false, "in"}, {true, "in\x04"}} {
		var to pipe
		if err := stdio.Feed(&to, strings.NewReader("in"), c.terminal); err != nil {
			t.Error(err)
		}
		if to.String() != c.want || to.closed == c.terminal {
			t.Errorf("terminal %v: %q, closed %v", c.terminal, to.String(), to.closed)
		}
	}
}

// A file's offset is where its readers go on: it may not be moved past what the
// program has taken, as splice does.
func TestFeedReadsNoFileByItself(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := stdio.Feed(refusing{w}, struct{ io.Reader }{strings.NewReader("in")}, false); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "in" {
		t.Errorf("%q, %v", got, err)
	}
}

// refusing has a ReadFrom, as an [os.File] does, that nobody may call.
type refusing struct{ *os.File }

func (refusing) ReadFrom(io.Reader) (int64, error) { return 0, errors.New("ReadFrom was called") }

// failing fails from the second write on.
type failing struct {
	err   error
	calls int
}

func (f *failing) Write(b []byte) (int, error) {
	if f.calls++; f.calls > 1 {
		return 0, f.err
	}
	return len(b), nil
}

func TestOutput(t *testing.T) {
	var to strings.Builder
	o := stdio.Output{Fail: func() { t.Error("no writer has failed") }}
	o.Copy(&to, strings.NewReader("out"))
	o.Copy(nil, strings.NewReader("dropped"))
	if err := o.Wait(); err != nil || to.String() != "out" {
		t.Errorf("%q, %v", to.String(), err)
	}
}

// Whoever fails to write is not asked again, the program's end is told once, and
// what it still writes holds nothing up.
func TestOutputOfAWriterThatFails(t *testing.T) {
	r, w := io.Pipe() // everything that is written must be read
	ended := 0
	o := stdio.Output{Fail: func() { ended++ }}
	to := &failing{err: io.ErrShortWrite}
	o.Copy(to, r)
	for range 5 {
		if _, err := w.Write([]byte("out")); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	o.Copy(&failing{err: io.ErrShortWrite, calls: 1}, strings.NewReader("out"))
	if err := o.Wait(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
	if ended != 1 || to.calls != 2 {
		t.Errorf("ended %d times, %d writes", ended, to.calls)
	}
}

// broken is a pipe that cannot be read, for no reason that an end of it would have.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// What cannot be read is not the end of what a program has written.
func TestOutputThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		err      error
		terminal bool
		lost     bool
	}{
		{io.EOF, false, false},
		{os.ErrClosed, false, false},
		{syscall.EIO, true, false},
		{syscall.EIO, false, true},
		{syscall.ENOMEM, true, true},
	} {
		ended := 0
		o := stdio.Output{Fail: func() { ended++ }, Terminal: c.terminal}
		o.Copy(io.Discard, broken{c.err})
		if err := o.Wait(); err != nil {
			t.Errorf("%v: a writer's error %v", c.err, err)
		}
		if lost := o.Lost(); (lost != nil) != c.lost || (ended == 1) != c.lost || c.lost && !errors.Is(lost, c.err) {
			t.Errorf("%v, terminal %v: lost %v, ended %d times", c.err, c.terminal, lost, ended)
		}
	}
}

// refuses is a pipe that cannot be written to.
type refuses struct{ err error }

func (r refuses) Write([]byte) (int, error) { return 0, r.err }
func (refuses) Close() error                { return nil }

// A program that has ended reads no more. What is not brought to one that would read is
// a failure, and ends it.
func TestFeedThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		err      error
		terminal bool
		lost     bool
	}{
		{syscall.EPIPE, false, false},
		{os.ErrClosed, true, false},
		{syscall.EIO, true, false},
		{syscall.EIO, false, true},
		{syscall.ENOMEM, true, true},
	} {
		ended := make(chan struct{}, 1)
		o := stdio.Output{Fail: func() { ended <- struct{}{} }, Terminal: c.terminal}
		if err := stdio.Feed(refuses{c.err}, strings.NewReader("in"), c.terminal); errors.Is(err, c.err) != c.lost {
			t.Errorf("%v, terminal %v: %v", c.err, c.terminal, err)
		}
		if !c.lost {
			continue
		}
		o.Feed(refuses{c.err}, strings.NewReader("in"))
		<-ended
		if err := o.Lost(); !errors.Is(err, c.err) {
			t.Errorf("%v, terminal %v: lost %v", c.err, c.terminal, err)
		}
	}
}
