package cli

import (
	"io"
	"time"
)

const (
	// spinnerDelay keeps the spinner away from what is over before a person
	// would wonder.
	spinnerDelay = 400 * time.Millisecond
	spinnerTurn  = 100 * time.Millisecond
	eraseLine    = "\r\x1b[K"
)

// spinner shows on a terminal that something slow goes on, and leaves no
// trace. A nil spinner does nothing. It writes from a goroutine of its own
// between start and stop, and nobody else may write there meanwhile.
type spinner struct {
	w          io.Writer
	quit, done chan struct{}
}

func (s *spinner) start(label string) {
	if s == nil || s.quit != nil {
		return
	}
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.turn(label, s.quit, s.done)
}

// stop erases the spinner and returns when nothing more is written.
func (s *spinner) stop() {
	if s == nil || s.quit == nil {
		return
	}
	close(s.quit)
	<-s.done
	s.quit = nil
}

func (s *spinner) turn(label string, quit, done chan struct{}) {
	defer close(done)
	frames := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	wait, shown := spinnerDelay, 0
	for {
		select {
		case <-quit:
			if shown > 0 {
				io.WriteString(s.w, eraseLine)
			}
			return
		case <-time.After(wait):
			io.WriteString(s.w, eraseLine+frames[shown%len(frames)]+" "+label)
			wait, shown = spinnerTurn, shown+1
		}
	}
}
