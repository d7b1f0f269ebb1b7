package alive

import "github.com/sandbox-run/sandbox-run/pkg/sandbox"

// Ending is how a process ends, once. A [sandbox.Running] embeds it for its Wait.
type Ending struct {
	// Exit and Err are what Wait returns. They are whose who ends the process until
	// it calls End, and nobody changes them afterwards.
	Exit sandbox.Exit
	Err  error

	done chan struct{}
}

// NewEnding is that of a process which has not ended.
func NewEnding() Ending { return Ending{done: make(chan struct{})} }

// End says that the process has ended, which it does once.
func (e *Ending) End() { close(e.done) }

// Done is closed when the process has ended.
func (e *Ending) Done() <-chan struct{} { return e.done }

// Ended tells whether the process has ended.
func (e *Ending) Ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// Wait implements [sandbox.Running].
func (e *Ending) Wait() (sandbox.Exit, error) {
	<-e.done
	return e.Exit, e.Err
}
