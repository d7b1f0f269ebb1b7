package cli

import (
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// AutoServer is the server of this machine, if there is one.
const AutoServer = "auto"

// PolicyError is a run that a server's policy refuses.
type PolicyError struct{ Err error }

func (e *PolicyError) Error() string { return e.Err.Error() }
func (e *PolicyError) Unwrap() error { return e.Err }

// namesServer tells, before the command line is parsed, whether it may name a
// server, so that nothing is prepared for a run here.
func namesServer(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--server") })
}

// openRunner makes what a run needs, and tells whether it is on this machine.
func (a *app) openRunner(f *runFlags, cfg config.Config, notify func(string)) (runner Runner, here bool, err error) {
	if f.Server != nil && f.onlyHere() == "" {
		runner, err = a.deps.OpenServer(*f.Server, cfg.Server.APIKey, notify)
	}
	if runner == nil && err == nil {
		runner, err = a.deps.Open(cfg, notify)
		here = true
	}
	return runner, here, err
}

// isolation is the level that was asked for by hand: a server has its own settings,
// and ours are for runs here.
func (f *runFlags) isolation() sandbox.Level {
	if f.Isolation == nil {
		return ""
	}
	return sandbox.Level(*f.Isolation)
}

// onlyHere is the flag, if one was given, that only a run on this machine heeds.
func (f *runFlags) onlyHere() string {
	for _, local := range []struct {
		given bool
		flag  string
	}{
		{f.TTY, "--tty"},
		{f.Interactive, "--interactive"},
		{f.Workdir != "", "--workdir"},
		{f.OnDisk, "--on-disk"},
		{f.TraceDenied, "--trace-denied"},
		{f.CompileTimeout != nil, "--compile-timeout"},
		{f.InstallTimeout != nil, "--install-timeout"},
		{f.MaxStream != nil && *f.MaxStream == 0, "--max-stream 0"},
		{f.Runtime != nil, "--runtime"},
	} {
		if local.given {
			return local.flag
		}
	}
	return ""
}
