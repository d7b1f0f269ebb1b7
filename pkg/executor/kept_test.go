//go:build unix

package executor

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// losingRuntime has what it keeps make room before a container has it.
type losingRuntime struct {
	*keepingRuntime
	losses int // of each directory
	lost   map[string]int
}

func (l *losingRuntime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	for _, m := range spec.Mounts {
		key := spec.Language + " " + m.Kept
		if m.Kept != "" && l.lost[key] < l.losses {
			l.lost[key]++
			delete(l.kept, key)
		}
		if _, ok := l.kept[key]; m.Kept != "" && !ok {
			return nil, fmt.Errorf("make a container: %w under the name %q: %w", sandbox.ErrNotKept, m.Kept, syscall.EAGAIN)
		}
	}
	return l.keepingRuntime.Create(ctx, spec)
}

// TestPackagesAreKeptForDays: what requirements become elsewhere is kept as long as an
// environment is. Where it makes room while a run begins, the run has it brought again; and
// where that goes on, the error is ours and worth another try.
func TestPackagesAreKeptForDays(t *testing.T) {
	for losses, want := range []api.Status{api.StatusOK, api.StatusOK, api.StatusOK, api.StatusSandboxError} {
		fake := imageRuntime(map[string]string{"python3 --version": "Python 3.12.1\n", "python3 -I -c import sys; print(sys.executable)": "/usr/bin/python3\n"})
		rt := &losingRuntime{&keepingRuntime{fakeRuntime: fake, kept: map[string][]string{}}, losses, map[string]int{}}
		cfg := DefaultConfig()
		cfg.Host, cfg.DataDir = fakePython(t), t.TempDir()
		result, err := New(rt, cfg).Run(t.Context(), requiring("a"), nil)
		if err != nil || result.Status != want {
			t.Fatalf("%d losses: %+v, %v", losses, result, err)
		}
		rt.checkDeleted(t)
		if want == api.StatusSandboxError {
			if !*result.Retryable {
				t.Errorf("not to be tried again: %s", result.Message)
			}
			continue
		}
		if len(rt.dirs) != 2*(losses+1) {
			t.Errorf("%d losses: kept %+v", losses, rt.dirs)
		}
		for _, dir := range rt.dirs {
			_, installer := strings.CutPrefix(dir.Name, "installer-")
			_, packages := strings.CutPrefix(dir.Name, "python-")
			if !installer && !packages || dir.Lifetime != unusedEnvironment {
				t.Errorf("kept %+v", dir)
			}
		}
	}
}
