package cli

import (
	"errors"
	"os"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// The exit codes that are not the program's own. 124 is that of timeout(1),
// 125 to 127 are those of docker run, and 128+n is the shell's for signal n.
const (
	exitOK        = 0
	exitFailure   = 1 // a program that failed without a code of its own
	exitUsage     = 2
	exitTimeout   = 124
	exitSandbox   = 125
	exitPolicy    = 126
	exitNoProgram = 127
	exitSignal    = 128
	exitKilled    = exitSignal + int(syscall.SIGKILL)
	exitPipe      = exitSignal + int(sigPipe)
	// sigPipe is SIGPIPE, which package syscall does not name on Windows.
	sigPipe = syscall.Signal(13)
)

// exitCode is the one place that turns a result into an exit code. stopped is
// the signal that cancelled the run, or nil.
func exitCode(r *api.Result, stopped os.Signal) int {
	switch r.Status {
	case api.StatusOK:
		return exitOK
	case api.StatusRuntimeError:
		if r.ExitCode < 0 { // nothing was there to start
			return exitNoProgram
		}
		return programCode(r.ExitCode)
	case api.StatusCompileError, api.StatusInstallError,
		api.StatusDiskLimit, api.StatusProcessLimit, api.StatusSignaled:
		return programCode(r.ExitCode)
	case api.StatusTimeout, api.StatusCPULimit:
		return exitTimeout
	case api.StatusMemoryLimit, api.StatusOutputLimit:
		return exitKilled
	case api.StatusPolicyBlocked:
		return exitPolicy
	case api.StatusCancelled:
		return signalCode(stopped)
	default: // sandbox_error
		return exitSandbox
	}
}

// programCode passes on a program's own code. A failure never becomes 0.
func programCode(code int) int {
	if code < 1 || code > 255 {
		return exitFailure
	}
	return code
}

func signalCode(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitSignal + int(syscall.SIGINT)
}

// usageError is a wrong command line, environment, configuration file or
// source.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// languageError is an unknown language or a missing toolchain.
type languageError struct{ error }

func (e languageError) Unwrap() error { return e.error }

// errQuiet ends the tool with a code and without a word.
type errQuiet struct{ code int }

func (errQuiet) Error() string { return "" }

// exitCodeOf is the exit code of an error that kept anything from running.
func exitCodeOf(err error) int {
	var usage usageError
	var lang languageError
	var quiet errQuiet
	var input *executor.InputError
	var policy *PolicyError
	var value *config.ValueError
	switch {
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &usage), errors.As(err, &value):
		return exitUsage
	case errors.As(err, &lang):
		return exitNoProgram
	case errors.As(err, &policy): // which may be about an input
		return exitPolicy
	case errors.As(err, &input):
		if input.Kind == executor.InputUnknownLanguage || input.Kind == executor.InputNoToolchain {
			return exitNoProgram
		}
		return exitUsage
	}
	return exitSandbox
}
