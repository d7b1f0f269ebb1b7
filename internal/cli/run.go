package cli

import (
	"errors"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// run is the verb that everything is about.
func (a *app) run(args []string) (int, error) {
	// From the first moment on signals are ours: whatever is made is removed.
	stop := newStopper()
	defer stop.release()
	if a.deps.Prepare != nil && !namesServer(args) {
		a.deps.Prepare()
	}
	f := &runFlags{}
	after, help, err := parse(f, args)
	if err != nil || help {
		if help {
			err = a.help("run")
		}
		return exitOK, err
	}
	f.Args = after
	if err := f.check(); err != nil {
		return 0, usageError{err}
	}
	cfg, err := a.config(f.Quiet || f.format() == formatRaw)
	if err != nil {
		return 0, err
	}
	f.apply(&cfg)
	return a.runSource(f, cfg, stop)
}

// read reads what a command line names: the source, and what goes with it.
func (a *app) read(f *runFlags, cfg config.Config, stop *stopper) (executor.Request, func(), error) {
	var req executor.Request
	var closeInput func()
	err := stop.reading(func() error {
		src, err := a.readSource(f)
		if err != nil {
			return sourceError(err)
		}
		if req, closeInput, err = a.request(f, cfg, src); err != nil {
			return usageError{err}
		}
		return nil
	})
	if err != nil { // and req is of what was left behind
		return executor.Request{}, nil, err
	}
	return req, closeInput, nil
}

// sourceError is a usage error unless it is about the language.
func sourceError(err error) error {
	if errors.As(err, new(languageError)) {
		return err
	}
	return usageError{err}
}

// runSource reads and runs. Everything that is opened is closed on every
// path.
func (a *app) runSource(f *runFlags, cfg config.Config, stop *stopper) (int, error) {
	req, closeInput, err := a.read(f, cfg, stop)
	if err != nil {
		return 0, err
	}
	defer closeInput()
	out, err := openOut(f.Out)
	if err != nil {
		return 0, usageError{err}
	}
	defer out.close()
	if out != nil {
		req.OnFile = out.receive
	}

	p := a.newPrinter(f, newOutput(a.stdout, a.stderr, stop.giveUp, f))
	runner, here, err := a.openRunner(f, cfg, p.notice)
	if err != nil {
		return 0, err
	}
	defer closeRunner(runner, p.notice)
	if !here {
		req.Isolation = f.isolation()
	}
	r, err := a.runJob(runner, Job{Request: req}, f, p, stop)
	if err != nil {
		return 0, err
	}
	return conclude(r, p, out, stop)
}

// runJob runs the job, with our terminal lent to it if it asked for one.
func (a *app) runJob(runner Runner, job Job, f *runFlags, p printer, stop *stopper) (*api.Result, error) {
	sink := &watchedSink{printer: p}
	if f.TTY {
		restore, err := a.lendTerminal(&job, p)
		if err != nil {
			return nil, err
		}
		defer restore()
	}
	r, err := runner.Run(stop.ctx, job, sink.event)
	if sink.failed != nil {
		return nil, sinkError(sink.failed, stop)
	}
	return r, err
}

// lendTerminal switches our terminal to raw mode, and returns what undoes it.
func (a *app) lendTerminal(job *Job, p printer) (restore func(), err error) {
	size := terminalSize(a.stdin)
	job.TTY = &size
	resize, stopResize := watchResize(a.stdin)
	job.Resize = resize
	undo, err := makeRaw(a.stdin)
	if err != nil {
		stopResize()
		return nil, err
	}
	setEOL(p, "\r\n")
	return func() { undo(); stopResize(); setEOL(p, "\n") }, nil
}

func setEOL(p printer, eol string) {
	if text, ok := p.(*textPrinter); ok {
		text.mu.Lock()
		defer text.mu.Unlock()
		text.eol = eol
	}
}

// conclude shows the result and turns it into an exit code.
func conclude(r *api.Result, p printer, out *outDir, stop *stopper) (int, error) {
	if err := p.finish(r, out); err != nil {
		return 0, sinkError(err, stop)
	}
	code := exitCode(r, stop.signal())
	if code == exitOK && len(out.failures()) > 0 {
		code = exitSandbox
	}
	return code, nil
}

// watchedSink remembers why the printer could not go on, because the run then
// ends as cancelled and no longer knows.
type watchedSink struct {
	printer printer
	failed  error
}

func (s *watchedSink) event(e api.Event) error {
	if s.failed == nil {
		s.failed = s.printer.event(e)
	}
	return s.failed
}

// sinkError ends us as a tool of Unix ends whose reader went away: without a
// word, with the code of the signal.
func sinkError(err error, stop *stopper) error {
	switch {
	case errors.Is(err, errGone):
		return errQuiet{exitPipe}
	case errors.Is(err, errStuck):
		return errQuiet{signalCode(stop.signal())}
	}
	return err
}

func (a *app) newPrinter(f *runFlags, o *output) printer {
	switch f.format() {
	case formatJSON:
		return &jsonPrinter{output: o, indent: isTerminal(a.stdout)}
	case formatNDJSON:
		return &ndjsonPrinter{output: o}
	case formatRaw:
		return &rawPrinter{output: o}
	}
	return newTextPrinter(o, a, f)
}
