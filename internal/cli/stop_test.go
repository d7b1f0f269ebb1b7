package cli

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// A reader that does not read keeps us no longer than a second after the signals.
func TestPatientWriterStuck(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	giveUp := make(chan struct{})
	p := newPatientWriter(w, giveUp)
	done := make(chan error)
	go func() {
		_, err := p.Write(make([]byte, 1<<20)) // more than a pipe holds
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a full pipe takes everything: %v", err)
	case giveUp <- struct{}{}:
	}
	if err := <-done; !errors.Is(err, errStuck) {
		t.Errorf("%v, want %v", err, errStuck)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, errStuck) {
		t.Errorf("afterwards %v, want %v", err, errStuck)
	}
}

// slowWriter takes its time.
type slowWriter struct{ bytes.Buffer }

func (w *slowWriter) WriteString(s string) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return w.Buffer.WriteString(s)
}

// A reader that reads gets what is first written after the signals.
func TestPatientWriterLate(t *testing.T) {
	giveUp := make(chan struct{})
	close(giveUp)
	var w slowWriter
	p := newPatientWriter(&w, giveUp)
	for _, s := range []string{"a", "b"} {
		if n, err := p.Write([]byte(s)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if w.String() != "ab" {
		t.Errorf("%q", w.String())
	}
}

func TestPatientWriterGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	p := newPatientWriter(w, nil)
	if _, err := p.Write([]byte("x")); !errors.Is(err, errGone) {
		t.Errorf("%v, want %v", err, errGone)
	}
}

func TestPatientWriterOrder(t *testing.T) {
	var b bytes.Buffer
	p := newPatientWriter(&b, nil)
	for _, s := range []string{"a", "b", "c"} {
		if n, err := p.Write([]byte(s)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if b.String() != "abc" {
		t.Errorf("%q", b.String())
	}
}

// The first signal ends the run, the second only stops us waiting for readers.
func TestStopperSignals(t *testing.T) {
	s := newStopper()
	defer s.release()
	s.wait = time.Hour // so that only the second signal can give up
	s.stop(syscall.SIGTERM)
	<-s.ctx.Done()
	if s.signal() != syscall.SIGTERM {
		t.Errorf("stopped by %v", s.signal())
	}
	s.stop(syscall.SIGINT)
	<-s.giveUp
	if s.signal() != syscall.SIGTERM {
		t.Errorf("the second signal counts: %v", s.signal())
	}
	s.stop(syscall.SIGINT)
}
