package executor

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/monitor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// phase is one command of a run and what came of it.
type phase struct {
	name        string
	lang        language.Language
	limits      sandbox.Limits
	streamLimit int64
	stdout      *capture
	stderr      *capture
	diskPeak    sandbox.DiskUsage
	// forksCounted means that the kernel counts the forks that it refuses.
	forksCounted bool

	started     bool
	unsupported error // what was asked for by name and cannot be held
	exit        sandbox.Exit
	metrics     api.Metrics
	verdict     verdict
}

// phaseInput is what a phase needs beside its command.
type phaseInput struct {
	stdin  io.Reader
	tty    *sandbox.TTY
	limits sandbox.Limits
	// network is none unless it is given: what a program may reach, its compiler
	// may not.
	network  sandbox.NetworkPolicy
	readOnly []string
	keep     int64 // bytes of each stream in the result
	ceiling  int64 // bytes of each stream, or 0
	// speaker reads what a failed phase wrote; nil is the run's language.
	speaker language.Language
}

// phase runs one command in the run's container.
func (r *run) phase(ctx context.Context, name string, step language.Step, in phaseInput) *phase {
	ph, ok := r.beginPhase(name, in)
	if !ok {
		return ph
	}
	ph.run(ctx, r, step, in)
	if name == api.PhaseCompile && ph.verdict.status == api.StatusOK {
		r.compiled = ph // what it has made is still to be looked at
		return ph
	}
	r.endPhase(ph)
	return ph
}

// settleCompiled ends a compile phase that went well, as far as its compiler was concerned.
func (r *run) settleCompiled() {
	if ph := r.compiled; ph != nil {
		r.compiled = nil
		r.endPhase(ph)
	}
}

// beginPhase tells whether somebody waits for it.
func (r *run) beginPhase(name string, in phaseInput) (*phase, bool) {
	ph := &phase{
		name: name, lang: r.lang, limits: in.limits, streamLimit: in.ceiling,
		forksCounted: r.container.Isolation().Mechanisms["cgroup"] == api.Enforced,
		stdout:       newCapture(api.EventStdout, r.events.emit, in.keep, in.ceiling),
		stderr:       newCapture(api.EventStderr, r.events.emit, in.keep, in.ceiling),
	}
	if in.speaker != nil {
		ph.lang = in.speaker
	}
	r.phases = append(r.phases, ph)
	if err := r.events.emit(api.Event{Type: api.EventPhase, Name: name, State: api.PhaseBegin}); err != nil {
		ph.verdict = verdict{status: api.StatusCancelled, message: messageCancelled}
		return ph, false
	}
	return ph, true
}

func (r *run) endPhase(ph *phase) {
	_ = r.events.emit(api.Event{Type: api.EventPhase, Name: ph.name, State: api.PhaseEnd, Status: ph.verdict.status})
}

func (ph *phase) run(ctx context.Context, r *run, step language.Step, in phaseInput) {
	if confirm := r.confirm; confirm != nil {
		r.confirm = nil
		if err := confirm(); err != nil {
			ph.verdict = r.ours(err)
			return
		}
	}
	var requested map[string]string
	if ph.name == api.PhaseRun || fault.Off("environment", "of the request") { // what installs and compiles is ours, and settings of it too
		requested = r.req.Env
	}
	env := r.environment(step, requested)
	p := sandbox.Process{
		Args: step.Args, Env: r.hooked(ph.name, env), Dir: step.Dir,
		Stdin: in.stdin, Stdout: ph.stdout, Stderr: ph.stderr, TTY: in.tty,
		Limits: in.limits, Network: &in.network, ReadOnly: in.readOnly,
		TraceDenied: r.req.TraceDenied && ph.name == api.PhaseRun,
	}
	if ph.name != api.PhaseInstall {
		p.Work = r.work(ph.name, env)
	}
	heard := func() error { return nil }
	if listener := r.report(ph.name); listener != nil {
		stdout, stderr := listener.Writer(ph.stdout), listener.Writer(ph.stderr) // a terminal is both
		p.Stdout, p.Stderr = stdout, stderr
		heard = func() error { return errors.Join(stdout.Flush(), stderr.Flush()) }
	}
	var m *monitor.Monitor
	outcome, err := r.e.manager.Run(ctx, r.container.ID(), p, func(running sandbox.Running) {
		ph.started = true
		m = monitor.Watch(running, monitor.Options{Disk: r.diskUsage, OnSample: r.liveMetrics})
		if r.req.OnStart != nil && ph.name == api.PhaseRun {
			r.req.OnStart(running)
		}
	})
	if m != nil {
		m.Stop()
		ph.diskPeak = m.DiskPeak()
		ph.metrics = m.Result(outcome.Exit)
	}
	last := heard()
	if errors.Is(last, errStreamLimit) { // which it may have been all along
		outcome.WriteError, last = errStreamLimit, nil
	}
	flushErr := errors.Join(last, ph.stdout.flush(), ph.stderr.flush())
	ph.exit = outcome.Exit
	switch {
	case err != nil && cancelled(ctx, err), flushErr != nil:
		ph.verdict = verdict{status: api.StatusCancelled, message: messageCancelled}
	case errors.Is(err, sandbox.ErrOutOfMemory): // before it came to start
		ph.outOfMemory()
	case err != nil:
		ph.verdict = r.notStarted(ph.name, step, err)
		if unsupported := (*sandbox.UnsupportedError)(nil); errors.As(err, &unsupported) {
			ph.unsupported = unsupported
		}
	default:
		ph.verdict = r.judgeImports(ph, ph.judge(outcome))
	}
}

// notStarted sorts the errors of starting and running a process. A toolchain that was
// found and cannot be started is no fault of the program's, unless it was looked for where
// the request says, which compilers and installers never are.
func (r *run) notStarted(phase string, step language.Step, err error) verdict {
	var start *sandbox.StartError
	_, ownPath := r.req.Env["PATH"]
	elsewhere := step.Args[0] != r.toolchain.Program || ownPath && !strings.Contains(step.Args[0], "/")
	programs := phase == api.PhaseRun && (elsewhere || r.req.Dir != "")
	if errors.As(err, &start) && (programs || errors.Is(err, syscall.E2BIG)) {
		return verdict{status: api.StatusRuntimeError, message: "Execution failed: " + r.e.Told(start.Error())}
	}
	return r.ours(err)
}

// ours is the verdict of a failure that is none of the program's.
func (r *run) ours(err error) verdict {
	result := r.e.Failure(err)
	return verdict{status: result.Status, message: result.Message, retryable: *result.Retryable}
}

// lastWords is the end of what the phase wrote, for diagnosis. Compilers that
// complain on standard output are heard too.
func (ph *phase) lastWords() string {
	words, _, _ := ph.stderr.text()
	if strings.TrimSpace(words) == "" && ph.name != api.PhaseRun {
		words, _, _ = ph.stdout.text()
	}
	return words
}

// api is the phase as the result shows it.
func (ph *phase) api() api.Phase {
	stdout, _, _ := ph.stdout.text()
	stderr, _, _ := ph.stderr.text()
	return api.Phase{
		Name: ph.name, Status: ph.verdict.status, ExitCode: ph.code(), Signal: signalName(ph.exit.Signal),
		Stdout: stdout, Stderr: stderr, Metrics: ph.metrics,
	}
}

// truncated tells whether something of the output was left out.
func (ph *phase) truncated() bool {
	_, _, stdout := ph.stdout.text()
	_, _, stderr := ph.stderr.text()
	return stdout || stderr
}

// code is -1 when nothing was started.
func (ph *phase) code() int {
	if !ph.started {
		return -1
	}
	return ph.exit.Code
}
