package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// Every status has its exit code.
func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		status  api.Status
		program int
		stopped os.Signal
		want    int
	}{
		{api.StatusOK, 0, nil, 0},
		{api.StatusRuntimeError, 3, nil, 3},
		{api.StatusRuntimeError, 255, nil, 255},
		{api.StatusCompileError, 2, nil, 2},
		{api.StatusCompileError, 0, nil, 1},
		{api.StatusInstallError, 9, nil, 9},
		{api.StatusInstallError, -1, nil, 1},
		{api.StatusSignaled, 139, nil, 139},
		{api.StatusTimeout, 137, nil, 124},
		{api.StatusCPULimit, 137, nil, 124},
		{api.StatusMemoryLimit, 1, nil, 137},
		{api.StatusOutputLimit, 0, nil, 137},
		{api.StatusDiskLimit, 4, nil, 4},
		{api.StatusProcessLimit, 5, nil, 5},
		{api.StatusPolicyBlocked, -1, nil, 126},
		{api.StatusCancelled, 143, syscall.SIGINT, 130},
		{api.StatusCancelled, 143, syscall.SIGTERM, 143},
		{api.StatusCancelled, 143, syscall.SIGHUP, 129},
		{api.StatusCancelled, 143, nil, 130},
		{api.StatusSandboxError, -1, nil, 125},
		{api.Status("something new"), 0, nil, 125},
	} {
		if got := exitCode(&api.Result{Status: tt.status, ExitCode: tt.program}, tt.stopped); got != tt.want {
			t.Errorf("%s with %d: exit code %d, want %d", tt.status, tt.program, got, tt.want)
		}
	}
}

func TestExitCodeOfErrors(t *testing.T) {
	base := errors.New("x")
	for _, tt := range []struct {
		err  error
		want int
	}{
		{base, 125},
		{usageError{base}, 2},
		{fmt.Errorf("more: %w", languageError{base}), 127},
		{errQuiet{141}, 141},
		{&executor.InputError{Kind: executor.InputInvalid}, 2},
		{&executor.InputError{Kind: executor.InputUnsupported}, 2},
		{&executor.InputError{Kind: executor.InputUnknownLanguage}, 127},
		{&executor.InputError{Kind: executor.InputNoToolchain}, 127},
		{&PolicyError{base}, 126},
		{&PolicyError{&executor.InputError{}}, 126},
	} {
		if got := exitCodeOf(tt.err); got != tt.want {
			t.Errorf("%T: exit code %d, want %d", tt.err, got, tt.want)
		}
	}
}
