package executor

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What the program asked for and cannot be started is its own affair; a toolchain that
// has vanished is ours.
func TestNotStarted(t *testing.T) {
	const python, built = "/usr/bin/python3", "/build/main"
	cannot := func(program string, err error) error {
		return fmt.Errorf("run: %w", &sandbox.StartError{Program: program, Err: err})
	}
	for _, c := range []struct {
		program, dir string
		err          error
		want         api.Status
		retryable    bool
	}{
		{python, "", cannot(python, syscall.ENOENT), api.StatusSandboxError, false},
		{python, "", cannot(python, syscall.ENOEXEC), api.StatusSandboxError, false},
		{python, "", cannot(python, syscall.E2BIG), api.StatusRuntimeError, false},
		{python, "missing", cannot(python, syscall.ENOENT), api.StatusRuntimeError, false},
		{built, "", cannot(built, syscall.ENOENT), api.StatusRuntimeError, false},
		{built, "", fmt.Errorf("start %s: %w", built, syscall.ENOMEM), api.StatusSandboxError, true},
		{built, "", errors.New("broken"), api.StatusSandboxError, false},
	} {
		r := &run{e: newFakeExecutor(&fakeRuntime{}), toolchain: language.Toolchain{Program: python}, req: Request{Dir: c.dir}}
		v := r.notStarted(api.PhaseRun, language.Step{Args: []string{c.program}}, c.err)
		if v.status != c.want || v.retryable != c.retryable {
			t.Errorf("%s in %q, %v: %s, retryable %v, %q", c.program, c.dir, c.err, v.status, v.retryable, v.message)
		}
	}
	r := &run{e: newFakeExecutor(&fakeRuntime{}), toolchain: language.Toolchain{Program: "/usr/bin/java"}}
	compiler := language.Step{Args: []string{"/usr/bin/javac"}}
	if v := r.notStarted(api.PhaseCompile, compiler, cannot("/usr/bin/javac", syscall.EACCES)); v.status != api.StatusSandboxError {
		t.Errorf("a compiler that cannot be started: %s", v.status)
	}
}

// An image names its interpreter without a directory, and a request may say where to look.
func TestNotStartedOnItsOwnPath(t *testing.T) {
	err := &sandbox.StartError{Program: "node", Err: syscall.ENOENT}
	for path, want := range map[string]api.Status{"": api.StatusRuntimeError, "unset": api.StatusSandboxError} {
		r := &run{e: newFakeExecutor(&fakeRuntime{}), toolchain: language.Toolchain{Program: "node"}}
		if path != "unset" {
			r.req.Env = map[string]string{"PATH": path}
		}
		if v := r.notStarted(api.PhaseRun, language.Step{Args: []string{"node"}}, err); v.status != want {
			t.Errorf("PATH %q: %s, want %s", path, v.status, want)
		}
	}
}
