package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runner runs requests, here or elsewhere.
type Runner interface {
	// Run runs one job; see [executor.Executor.Run].
	Run(ctx context.Context, job Job, sink executor.Sink) (*api.Result, error)
	// Close frees the runner.
	Close() error
}

// Engine runs requests on this host and knows it. The real one is an executor on
// a runtime.
type Engine interface {
	Runner
	// Toolchains lists what was found for every language, and what is missing.
	Toolchains(ctx context.Context) ([]language.Toolchain, []language.Missing)
	// Check tells what a program imports and whether it parses; nothing of it runs.
	Check(ctx context.Context, req executor.Request) (*api.Check, error)
	// Probe tells what the runtime can enforce on this host.
	Probe(ctx context.Context) (sandbox.Capabilities, error)
	// Posture looks at a container of the runtime from inside.
	Posture(ctx context.Context, level sandbox.Level) (*posture.Posture, error)
}

// Job is a request with what only a terminal has.
type Job struct {
	executor.Request
	// Resize tells new sizes of the terminal. It is nil without one, and never
	// closed.
	Resize <-chan sandbox.TTY
}

// Deps is what the tool is built on.
type Deps struct {
	// Prepare is called when a program is about to be run, before the command
	// line is parsed: what Open will need may be started beside that. It may be
	// nil, and Open may not follow.
	Prepare func()
	// Open makes the engine. It is called once and only by verbs that need it.
	Open func(cfg config.Config, notify func(message string)) (Engine, error)
	// OpenReady is Open, but the engine has containers ready before they are wanted, as a
	// server has.
	OpenReady func(cfg config.Config, notify func(message string)) (Engine, error)
	// OpenServer makes a runner on the sandbox-server at a URL; key is the user's
	// and may be empty. For [AutoServer] it is the server of this machine, and nil
	// if there is none.
	OpenServer func(url, key string, notify func(message string)) (Runner, error)
	// Reclaim removes what killed runs left behind and names it, one line each.
	// It needs no engine: to open one may reclaim as well.
	Reclaim func(context.Context, config.Config) ([]string, error)
	// Version is the release, e.g. 1.2.0; empty for a build from source.
	Version string
}

// app is one invocation.
type app struct {
	deps           Deps
	stdin          *os.File
	stdout, stderr *os.File
	environ        []string
}

// Main runs the tool with the arguments after the program's name and returns
// its exit code. It reads the process's environment and takes over its signals
// while a program runs.
func Main(args []string, stdin, stdout, stderr *os.File, deps Deps) int {
	a := &app{deps: deps, stdin: stdin, stdout: stdout, stderr: stderr, environ: os.Environ()}
	code, err := a.dispatch(args)
	if err == nil {
		return code
	}
	if err.Error() != "" {
		fmt.Fprintf(stderr, "sandbox-run: %s\n", printable(err.Error()))
	}
	return exitCodeOf(err)
}

// dispatch picks the verb. The verb run need not be typed.
func (a *app) dispatch(args []string) (int, error) {
	name, rest := "run", args
	if len(args) > 0 {
		switch args[0] {
		case "-h", "--help":
			return exitOK, a.help("run")
		case "help":
			if v, ok := findVerb(strings.Join(args[1:], " ")); ok {
				return exitOK, a.help(v.name)
			}
			return exitOK, a.help("run")
		case "--version":
			args = []string{"version"}
		}
		if v, ok := findVerb(args[0]); ok {
			name, rest = v.name, args[1:]
		}
	}
	v, _ := findVerb(name)
	return v.run(a, rest)
}

// close frees the engine of a verb that runs nothing.
func (a *app) close(engine Engine) {
	closeRunner(engine, func(message string) { fmt.Fprintf(a.stderr, "sandbox-run: %s\n", printable(message)) })
}

// closeRunner frees a runner. That it cannot be freed whole is worth a word, and
// no reason for another exit code: what was asked for is done.
func closeRunner(runner Runner, tell func(message string)) {
	if err := runner.Close(); err != nil {
		tell("warning: the sandbox was not cleaned up; sandbox-run gc removes what is left: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// config reads environment and file, and passes warnings on unless nothing of
// ours is wanted.
func (a *app) config(quiet bool) (config.Config, error) {
	cfg, warnings, err := config.Load(a.environ)
	if err != nil {
		return cfg, usageError{err}
	}
	if quiet {
		return cfg, nil
	}
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "sandbox-run: warning: %s\n", printable(w))
	}
	return cfg, nil
}

// print writes a whole answer of a verb; a reader that went away is no error.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.stdout, text)
	if isBrokenPipe(err) {
		return errQuiet{exitPipe}
	}
	return err
}
