package remote

import (
	"errors"
	"io"
	"sync"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/stdio"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// The channels of a process.
const (
	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
)

// process is a program on another server.
type process struct {
	alive.Ending

	c      *container
	call   *tunnel.Call
	output stdio.Output
	hurry  sync.Once
}

func newProcess(c *container, call *tunnel.Call, p sandbox.Process) *process {
	pr := &process{c: c, call: call, Ending: alive.NewEnding()}
	pr.output.Fail = func() { _ = pr.Kill() }
	if p.Stdin != nil {
		go func() { _ = stdio.Feed(call.Writer(channelStdin), p.Stdin, false) }() // what fails is the channel, which says so itself
	}
	for channel, to := range map[int]io.Writer{channelStdout: p.Stdout, channelStderr: p.Stderr} {
		if to != nil {
			pr.output.Copy(to, call.Reader(channel))
		}
	}
	go pr.finish()
	return pr
}

// finish waits for the end.
func (pr *process) finish() {
	defer pr.End()
	answer, err := pr.call.Wait(pr.c.runtime.ctx)
	failed := pr.output.Wait()
	switch {
	case err != nil:
		pr.Err = pr.c.failed(err)
	case answer.Exit == nil:
		pr.Err = errors.New("the other server does not say how the program ended")
	default:
		pr.Exit = *answer.Exit
	}
	pr.Exit.WriteError = failed
	if pr.Exit.Metrics.Sources == nil {
		pr.Exit.Metrics.Sources = map[string]string{}
	}
}

// tell asks for something that a process which has ended needs no more.
func (pr *process) tell(r tunnel.Request) error {
	if pr.Ended() {
		return nil
	}
	r.Call = pr.call.ID()
	_, err := pr.c.do(pr.c.runtime.ctx, r)
	if pr.Ended() {
		return nil
	}
	return err
}

// Signal implements [sandbox.Running].
func (pr *process) Signal(sig syscall.Signal) error {
	return pr.tell(tunnel.Request{Op: tunnel.OpSignal, Signal: int(sig)})
}

// Kill implements [sandbox.Running].
func (pr *process) Kill() error {
	pr.hurry.Do(pr.call.Hurry)
	return pr.tell(tunnel.Request{Op: tunnel.OpKill})
}

// Resize implements [sandbox.Running].
func (pr *process) Resize(rows, cols uint16) error {
	return pr.tell(tunnel.Request{Op: tunnel.OpResize, Rows: rows, Cols: cols})
}

// Metrics implements [sandbox.Running].
func (pr *process) Metrics() (sandbox.Metrics, error) {
	if pr.Ended() {
		return pr.Exit.Metrics, pr.Err
	}
	answer, err := pr.c.do(pr.c.runtime.ctx, tunnel.Request{Op: tunnel.OpMetrics, Call: pr.call.ID()})
	if err != nil || answer.Metrics == nil {
		return sandbox.Metrics{}, errors.Join(err, errNoFigures(answer))
	}
	return *answer.Metrics, nil
}

func errNoFigures(answer tunnel.Answer) error {
	if answer.Error != nil || answer.Metrics != nil {
		return nil
	}
	return errors.New("the other server has no figures of the process")
}
