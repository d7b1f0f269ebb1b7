package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ended is a phase that was judged.
func ended(name string, status api.Status, code int, stdout, stderr string) *phase {
	ph := &phase{name: name, started: true, exit: sandbox.Exit{Code: code, Duration: 2 * time.Second,
		Metrics: sandbox.Metrics{MemoryPeakBytes: pointer(int64(7))}, Violations: []string{name + " violation"}},
		verdict: verdict{status: status, message: string(status), notes: []string{name + " note"}},
		stdout:  newCapture(api.EventStdout, nil, 8, 0), stderr: newCapture(api.EventStderr, nil, 8, 0)}
	_, _ = ph.stdout.Write([]byte(stdout))
	_, _ = ph.stderr.Write([]byte(stderr))
	return ph
}

func folded(phases ...*phase) *run {
	return &run{e: newFakeExecutor(&fakeRuntime{}), id: "id", toolchain: language.Toolchain{Language: "go", Version: "1.26"}, phases: phases,
		setup: time.Second, collect: 2 * time.Second}
}

func TestResultShowsThePhaseThatFailedOrTheLast(t *testing.T) {
	compile, program := ended(api.PhaseCompile, api.StatusOK, 0, "c", ""), ended(api.PhaseRun, api.StatusRuntimeError, 3, "out", "err")
	res := folded(compile, program).result(nil)
	if res.Status != api.StatusRuntimeError || res.Success || res.Stdout != "out" || res.Stderr != "err" || res.ExitCode != 3 || res.ExecutionTime != 2 || res.MemoryUsed != 7 {
		t.Errorf("%+v", res)
	}
	want := []string{"compile note", "compile violation", "run note", "run violation"}
	if diff := cmp.Diff(want, res.Meta.Violations); diff != "" {
		t.Error(diff)
	}
	if len(res.Phases) != 2 || res.Phases[0].Name != "compile" || res.Phases[0].Stdout != "c" {
		t.Errorf("phases %+v", res.Phases)
	}
	if m := res.Metrics; *m.SetupS != 1 || *m.CollectS != 2 || *m.QueueS != 0 {
		t.Errorf("metrics %+v", m)
	}
}

func TestCompilerOutputIsInStderr(t *testing.T) {
	res := folded(ended(api.PhaseCompile, api.StatusCompileError, 1, "e\xff", " ")).result(nil)
	if res.Stderr != "e\uFFFD" || res.StderrBase64 != "Zf8=" || res.Stdout != " " || res.StdoutBase64 != "" || res.ExecutionTime != 0 || res.MemoryUsed != 0 {
		t.Errorf("%+v", res)
	}
	res = folded(ended(api.PhaseRun, api.StatusRuntimeError, 1, "out", "")).result(nil)
	if res.Stdout != "out" || res.Stderr != "" {
		t.Errorf("a program's output was moved: %+v", res)
	}
}

func TestResultIsTruncated(t *testing.T) {
	for _, ph := range []*phase{ended(api.PhaseRun, api.StatusOK, 0, "0123456789", ""), ended(api.PhaseRun, api.StatusOK, 0, "", "0123456789")} {
		if res := folded(ph).result(nil); !res.Meta.Truncated || !res.Success {
			t.Errorf("%+v", res)
		}
	}
	if res := folded(ended(api.PhaseCompile, api.StatusOK, 0, "", "0123456789"), ended(api.PhaseRun, api.StatusOK, 0, "1", "")).result(nil); !res.Meta.Truncated {
		t.Error("what a compiler said was truncated, too")
	}
	if res := folded(ended(api.PhaseRun, api.StatusOK, 0, "01234567", "")).result(nil); res.Meta.Truncated {
		t.Error("what fits is not truncated")
	}
}

func TestResultWithoutPhases(t *testing.T) {
	res := folded().result(nil)
	if res.Status != api.StatusCancelled || res.ExitCode != -1 || res.Message == "" {
		t.Errorf("%+v", res)
	}
}

func TestResultOfOurFailure(t *testing.T) {
	r := folded(ended(api.PhaseRun, api.StatusTimeout, 143, "partial", ""))
	r.phases[0].verdict.limit = &api.LimitHit{Name: api.LimitWallTime}
	res := r.result(errors.Join(errors.New("a"), fmt.Errorf("b: %w", syscall.EMFILE)))
	if res.Status != api.StatusSandboxError || res.Message != "The sandbox failed: a; b: too many open files" || res.Limit != nil || res.Stdout != "partial" || !*res.Retryable {
		t.Errorf("%+v", res)
	}
	r.e.cfg.Told = func(said string) string { return strings.ReplaceAll(said, "/host", "$HERE") }
	if res := r.result(errors.New("mkdir /host/x")); res.Message != "The sandbox failed: mkdir $HERE/x" {
		t.Errorf("told: %q", res.Message)
	}
	if res := folded().result(errors.New("a")); *res.Retryable || res.ExitCode != -1 {
		t.Errorf("%+v", res)
	}
}

func TestPhaseThatDidNotStart(t *testing.T) {
	ph := ended(api.PhaseRun, api.StatusSandboxError, 0, "", "")
	ph.started = false
	res := folded(ph).result(nil)
	if res.ExitCode != -1 || res.Phases[0].ExitCode != -1 || res.ExecutionTime != 0 || res.Retryable == nil || *res.Retryable {
		t.Errorf("%+v", res)
	}
}

func TestMeta(t *testing.T) {
	r := folded()
	r.limits = sandbox.Limits{WallTime: time.Second, CPUTime: 2 * time.Second, MemoryBytes: 3, CPUs: 4, Processes: 5, OpenFiles: 6}
	r.disk = sandbox.DiskLimit{Bytes: 7}
	r.warnings = []string{"first"}
	m := r.meta()
	want := api.ResourceLimits{TimeoutSeconds: 1, CPUSeconds: 2, MemoryBytes: 3, CPUCores: 4, Processes: 5, OpenFiles: 6, DiskBytes: 7,
		MaxOutputBytes: 20 << 10, StreamLimitBytes: 64 << 20, Enforcement: map[string]string{}}
	if diff := cmp.Diff(want, m.ResourceLimits); diff != "" || m.Runtime != "fake" || m.Network.Mode != "none" || m.IsolationLevel != "" {
		t.Errorf("%s, %+v", diff, m)
	}
	r.container = &fakeContainer{}
	r.req.Network = sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"h:1"}}
	m = r.meta()
	if m.IsolationLevel != "full" || m.Isolation["seccomp"] != api.Enforced || m.ResourceLimits.Enforcement["memory"] != api.Sampled || m.Network.Mode != "allowlist" || len(m.Network.Allow) != 1 {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff([]string{"first", "memory is sampled"}, m.Warnings); diff != "" {
		t.Error(diff)
	}
}

// No client has to tell null from nothing, whatever the end was.
func TestNoResultHasNullLists(t *testing.T) {
	for name, res := range map[string]*api.Result{
		"cancelled":   folded().result(nil),
		"failed":      folded().result(errors.New("x")),
		"not started": folded(&phase{stdout: newCapture("", nil, 1, 0), stderr: newCapture("", nil, 1, 0)}).result(nil),
	} {
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"sources", "isolation", "enforcement", "files", "files_skipped", "phases", "warnings", "violations", "blocked_imports"} {
			if strings.Contains(string(text), fmt.Sprintf("%q:null", field)) {
				t.Errorf("%s: %s is null in %s", name, field, text)
			}
		}
	}
}

// Who has sent a request is told what was left behind, without the paths of this host, or
// else whoever removes it is; and a list that others hold stays as it is.
func TestLeftBehindIsTold(t *testing.T) {
	rt := &fakeRuntime{deleteErr: errors.New("remove /host/path: busy")}
	e := newFakeExecutor(rt)
	e.cfg.Told = func(text string) string { return strings.ReplaceAll(text, "/host/path", "…") }
	for _, behind := range []bool{false, true} {
		var all []sandbox.Container
		for range 3 {
			c, err := e.manager.Create(t.Context(), sandbox.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		r := &run{e: e, others: all[:2], container: all[2], behind: behind}
		all[2] = nil // which is room behind the others
		r.removeLast(t.Context())
		if all[2] != nil {
			t.Error("what others hold was written to")
		}
		if behind {
			if err := r.removal(); err == nil || strings.Count(err.Error(), "busy") != 3 || r.warnings != nil {
				t.Errorf("behind: %v, %q", err, r.warnings)
			}
			continue
		}
		const want = "something of the sandbox was left behind; sandbox-run gc removes it: remove …: busy; remove …: busy; remove …: busy"
		if !slices.Equal(r.warnings, []string{want}) {
			t.Errorf("%q", r.warnings)
		}
	}
	rt.checkDeleted(t)
}
