package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func newFakeExecutor(rt *fakeRuntime) *Executor { return New(rt, DefaultConfig()) }

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &fakeRuntime{program: says("hello\n", "warning\n", 0)}
		var events []api.Event
		req := echo()
		req.Env, req.Dir, req.Stdin, req.TTY = map[string]string{"A": "b"}, "sub", strings.NewReader("in"), &sandbox.TTY{Rows: 1, Cols: 2}
		req.Files = map[string]InputFile{"data": {Content: []byte("1")}}
		req.Network, req.Isolation, req.WorkspaceOnDisk = sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}, sandbox.LevelFull, true
		var started sandbox.Running
		req.OnStart = func(r sandbox.Running) { started = r }
		res, err := newFakeExecutor(rt).Run(t.Context(), req, collectEvents(&events))
		if err != nil {
			t.Fatal(err)
		}
		if !res.Success || res.Status != api.StatusOK || res.Stdout != "hello\n" || res.Stderr != "warning\n" || res.ExitCode != 0 || res.Message != "" || res.ExecutionTime != 1.5 {
			t.Errorf("result %+v", res)
		}
		if started == nil {
			t.Error("nobody was told of the start")
		}
		checkEvents(t, events, "start", "warning", "phase run begin", "output", "output", "phase run end ok", "result")
		c := rt.containers[0]
		p := c.started[0]
		if !slices.Equal(p.Args, req.Args) || p.Dir != "/workspace/sub" || p.Stdin != req.Stdin || p.TTY != req.TTY || !slices.Contains(p.Env, "A=b") || p.ReadOnly != nil || p.Limits.MemoryBytes != 512<<20 {
			t.Errorf("process %+v", p)
		}
		if s := c.spec; s.Level != sandbox.LevelFull || s.Network.Mode != sandbox.NetworkLocalhost || !s.WorkspaceOnDisk || s.Disk.Bytes != 256<<20 || s.BuildDisk.Bytes != 0 {
			t.Errorf("spec %+v", s)
		}
		if string(c.trees[sandbox.WorkspaceDir].names["data"].content) != "1" {
			t.Error("the workspace lacks the request's file")
		}
		rt.checkDeleted(t)
	})
}

// checkEvents compares the kinds of events, and holds what is true of every stream.
func checkEvents(t *testing.T, events []api.Event, want ...string) {
	t.Helper()
	var got []string
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
		if i > 0 && e.T < events[i-1].T {
			t.Errorf("event %d goes back in time", i)
		}
		switch e.Type {
		case api.EventPhase:
			got = append(got, strings.TrimSpace(fmt.Sprintf("phase %s %s %s", e.Name, e.State, e.Status)))
		case api.EventStdout, api.EventStderr:
			got = append(got, "output")
		default:
			got = append(got, string(e.Type))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunWithoutSink(t *testing.T) {
	rt := &fakeRuntime{program: says("", "", 3)}
	res, err := newFakeExecutor(rt).Run(t.Context(), echo(), nil)
	if err != nil || res.Status != api.StatusRuntimeError || res.ExitCode != 3 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestRunCompiles(t *testing.T) {
	for _, tc := range []struct {
		name     string
		compiler sandbox.Exit
		status   api.Status
		phases   int
	}{
		{"and runs", sandbox.Exit{}, api.StatusOK, 2},
		{"in vain", sandbox.Exit{Code: 1}, api.StatusCompileError, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rt := &fakeRuntime{program: func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
				if strings.HasSuffix(p.Args[0], "gcc") {
					_, _ = io.WriteString(p.Stdout, "main.c:1:1: error: x\n")
					return tc.compiler
				}
				return sandbox.Exit{}
			}}
			e := newFakeExecutor(rt)
			e.cfg.Host = fakeGCC(t)
			req := Request{Language: "c", Code: []byte("int main;"), CompileTimeout: 7 * time.Second, Env: map[string]string{"COMPILER_PATH": "/workspace"}}
			res, err := e.Run(t.Context(), req, nil)
			if err != nil || res.Status != tc.status || len(res.Phases) != tc.phases || res.Version != "12.2.0" {
				t.Fatalf("%+v, %v", res, err)
			}
			c := rt.containers[0]
			if p := c.started[0]; p.Limits.WallTime != 7*time.Second || p.Limits.MemoryBytes != 2<<30 || p.ReadOnly != nil || slices.Contains(p.Env, "COMPILER_PATH=/workspace") {
				t.Errorf("the compiler's process %+v", p)
			}
			if c.spec.BuildDisk.Bytes != 1<<30 {
				t.Errorf("build disk %+v", c.spec.BuildDisk)
			}
			if tc.phases == 1 {
				if res.Stderr != "main.c:1:1: error: x\n" || res.Stdout != "" || !strings.HasPrefix(res.Message, "C compile error: ") {
					t.Errorf("stdout %q, stderr %q, message %q", res.Stdout, res.Stderr, res.Message)
				}
				return
			}
			if p := c.started[1]; !slices.Equal(p.ReadOnly, []string{sandbox.BuildDir}) || !slices.Contains(p.Env, "COMPILER_PATH=/workspace") {
				t.Errorf("the program's process %+v", p)
			}
		})
	}
}

func TestRequestsThatCannotRun(t *testing.T) {
	for _, tc := range []struct {
		name  string
		req   Request
		host  language.Host
		kind  InputKind
		words string
	}{
		{"no language", Request{}, language.Host{}, InputUnknownLanguage, "language"},
		{"unknown language", Request{Language: "pythn"}, language.Host{}, InputUnknownLanguage, "python"},
		{"no such version", Request{Language: "c@99", Code: []byte("x")}, fakeGCC(t), InputNoToolchain, "12.2.0"},
		{"no program", Request{Language: "exec"}, language.Host{}, InputInvalid, "exec needs a program"},
		{"bad name", Request{Language: "exec", Files: map[string]InputFile{"..": {}}}, language.Host{}, InputInvalid, "file name"},
		{"bad limit", Request{Language: "exec", Limits: sandbox.Limits{CPUs: -1}}, language.Host{}, InputInvalid, "CPUs"},
		{"bad disk", Request{Language: "exec", DiskBytes: 1}, language.Host{}, InputInvalid, "disk"},
		{"bad output", Request{Language: "exec", MaxOutputBytes: -1}, language.Host{}, InputInvalid, "output"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rt := &fakeRuntime{}
			e := newFakeExecutor(rt)
			e.cfg.Host = tc.host
			var events []api.Event
			res, err := e.Run(t.Context(), tc.req, collectEvents(&events))
			wantInput(t, err, tc.kind, tc.words)
			if _, plain := err.(*InputError); !plain || res != nil || len(events) != 0 || len(rt.containers) != 0 {
				t.Errorf("%T, result %v, events %v: nothing may happen", err, res, events)
			}
		})
	}
}

func TestMissingToolchain(t *testing.T) {
	for _, lang := range language.All() {
		if found, _ := lang.Find(t.Context(), language.Host{}); len(found) > 0 {
			continue // this machine has it in a place that is always looked at
		}
		e := newFakeExecutor(&fakeRuntime{})
		_, err := e.Run(t.Context(), Request{Language: lang.Info().Name, Code: []byte("x")}, nil)
		wantInput(t, err, InputNoToolchain, lang.Info().Title+" is not installed: ", lang.Info().Install)
		return
	}
	t.Skip("every language has a toolchain outside of PATH on this machine")
}

// What is not as it should be is told as soon as it is known, and in the result.
func TestWarningsAreEvents(t *testing.T) {
	var events []api.Event
	res, err := newFakeExecutor(&fakeRuntime{}).Run(t.Context(), echo(), collectEvents(&events))
	if err != nil || !slices.Contains(res.Meta.Warnings, "memory is sampled") {
		t.Fatalf("%+v, %v", res, err)
	}
	if len(events) < 2 || events[0].Type != api.EventStart || events[1].Type != api.EventWarning || events[1].Message != "memory is sampled" {
		t.Errorf("%+v", events)
	}
}

// A limit that was asked for by name and cannot be held ends the request before
// anything runs; a default one does not.
func TestStrictLimits(t *testing.T) {
	for _, strict := range [][]string{nil, {sandbox.LimitMemory}, {sandbox.LimitMemory, sandbox.LimitCPUs}} {
		rt := &fakeRuntime{}
		req := echo()
		req.Limits = sandbox.Limits{CPUs: 0.5, Strict: strict}
		_, err := newFakeExecutor(rt).Run(t.Context(), req, nil)
		rt.checkDeleted(t)
		if len(strict) < 2 {
			if err != nil {
				t.Errorf("%q: %v", strict, err)
			}
			continue
		}
		wantInput(t, err, InputUnsupported, "the cpu limit cannot be enforced here: only whole cores")
		if input := (*InputError)(nil); errors.As(err, &input) && input.Field != "/limits/cpu_cores" || len(rt.containers[0].started) != 0 {
			t.Errorf("%+v; started %v", err, rt.containers[0].started)
		}
	}
}

// What could not be removed is no fault of the run.
func TestDeleteThatFailsIsAWarning(t *testing.T) {
	rt := &fakeRuntime{deleteErr: errors.New("busy"), program: says("kept", "", 0)}
	res, err := newFakeExecutor(rt).Run(t.Context(), echo(), nil)
	if err != nil || !res.Success || res.Stdout != "kept" || !slices.ContainsFunc(res.Meta.Warnings, func(w string) bool { return strings.Contains(w, "gc removes it: busy") }) {
		t.Errorf("%+v, %v", res, err)
	}
	rt.checkDeleted(t)
}

func TestStepsThatFail(t *testing.T) {
	unsupported := &sandbox.UnsupportedError{What: "isolation full", Reason: "no namespaces"}
	again := fmt.Errorf("fork: %w", syscall.EAGAIN)
	broken := errors.New("broken")
	for _, tc := range []struct {
		name      string
		rt        *fakeRuntime
		kind      InputKind
		words     string // of the InputError, or of the message
		input     bool
		status    api.Status
		retryable bool
	}{
		{name: "create unsupported", rt: &fakeRuntime{createErr: unsupported}, input: true, kind: InputUnsupported, words: "isolation full cannot be enforced here"},
		{name: "create for now", rt: &fakeRuntime{createErr: again}, status: api.StatusSandboxError, retryable: true, words: "create the container: fork"},
		{name: "create", rt: &fakeRuntime{createErr: broken}, status: api.StatusSandboxError, words: "create the container: broken"},
		{name: "files", rt: &fakeRuntime{filesErr: broken}, status: api.StatusSandboxError, words: "broken"},
		{name: "workspace full", rt: &fakeRuntime{writeErr: fmt.Errorf("write: %w", syscall.ENOSPC)}, input: true, words: "do not fit"},
		{name: "workspace quota", rt: &fakeRuntime{writeErr: fmt.Errorf("write: %w", syscall.EDQUOT)}, input: true, words: "do not fit"},
		{name: "workspace", rt: &fakeRuntime{writeErr: broken}, status: api.StatusSandboxError, words: "write data to the workspace: broken"},
		{name: "start unsupported", rt: &fakeRuntime{startErr: unsupported}, input: true, kind: InputUnsupported, words: "isolation full cannot be enforced here"},
		{name: "start for now", rt: &fakeRuntime{startErr: again}, status: api.StatusSandboxError, retryable: true, words: "fork: "},
		{name: "start", rt: &fakeRuntime{startErr: broken}, status: api.StatusSandboxError, words: "broken"},
		{name: "no such program", rt: &fakeRuntime{startErr: &sandbox.StartError{Program: "echo", Err: syscall.ENOENT}}, status: api.StatusRuntimeError,
			words: "Execution failed: cannot start echo: no such file or directory"},
		{name: "wait", rt: &fakeRuntime{waitErr: broken}, status: api.StatusSandboxError, words: "broken"},
		{name: "wait for now", rt: &fakeRuntime{waitErr: again}, status: api.StatusSandboxError, retryable: true, words: "fork: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var events []api.Event
			req := echo()
			req.Files = map[string]InputFile{"data": {}}
			rt := tc.rt
			res, err := newFakeExecutor(rt).Run(t.Context(), req, collectEvents(&events))
			rt.checkDeleted(t)
			if tc.input {
				wantInput(t, err, tc.kind, tc.words)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if res.Success || res.Status != tc.status || !strings.Contains(res.Message, tc.words) {
				t.Errorf("%s: %q, want %s: %q", res.Status, res.Message, tc.status, tc.words)
			}
			if ours := tc.status == api.StatusSandboxError; ours != (res.Retryable != nil) || ours && *res.Retryable != tc.retryable {
				t.Errorf("retryable %v", res.Retryable)
			}
			if last := events[len(events)-1]; last.Type != api.EventResult || last.Result != res {
				t.Errorf("the last event is %+v", last)
			}
		})
	}
}

func TestCancelledAtEachStep(t *testing.T) {
	for _, step := range []string{"before", "create", "files", "start", "run"} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rt := &fakeRuntime{program: untilTerm}
				req := echo()
				switch step {
				case "before":
					cancel()
				case "create":
					rt.onCreate = cancel
				case "files":
					rt.onFiles = cancel
				case "start":
					req.OnStart = func(sandbox.Running) { cancel() }
				case "run":
					time.AfterFunc(time.Second, cancel)
				}
				var events []api.Event
				res, err := newFakeExecutor(rt).Run(ctx, req, collectEvents(&events))
				if err != nil || res.Status != api.StatusCancelled || res.Message != "The run was cancelled" || res.Retryable != nil {
					t.Errorf("%+v, %v", res, err)
				}
				if last := events[len(events)-1]; last.Type != api.EventResult {
					t.Errorf("the last event is %+v", last)
				}
				for _, w := range res.Meta.Warnings {
					if strings.Contains(w, "left behind") {
						t.Errorf("what is cancelled is deleted all the same: %s", w)
					}
				}
				rt.checkDeleted(t)
			})
		})
	}
}

func TestSinkThatFails(t *testing.T) {
	for _, kind := range []api.EventType{api.EventStart, api.EventPhase, api.EventStdout, api.EventMetrics} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &fakeRuntime{program: func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
					if _, err := io.WriteString(p.Stdout, "x"); err != nil {
						return sandbox.Exit{Code: 137, Signal: 9, WriteError: err}
					}
					return untilTerm(p, r) // silent from here on
				}}
				failed, after := false, 0
				res, err := newFakeExecutor(rt).Run(t.Context(), echo(), func(e api.Event) error {
					if failed {
						after++
					}
					if e.Type == kind {
						failed = true
						return errors.New("the client went away")
					}
					return nil
				})
				if err != nil || res.Status != api.StatusCancelled {
					t.Errorf("%+v, %v", res, err)
				}
				if after != 0 {
					t.Errorf("%d events came after the failure", after)
				}
				rt.checkDeleted(t)
			})
		})
	}
}

func TestRunTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &fakeRuntime{program: untilTerm}
		req := echo()
		req.Limits.WallTime = 2 * time.Second
		var events []api.Event
		res, err := newFakeExecutor(rt).Run(t.Context(), req, collectEvents(&events))
		if err != nil || res.Status != api.StatusTimeout || res.Message != "Code execution timed out after 2s" || res.Limit == nil || res.ExitCode != 143 || res.Signal != "SIGTERM" {
			t.Errorf("%+v, %v", res, err)
		}
		samples := 0
		for _, e := range events {
			if e.Type == api.EventMetrics {
				samples++
			}
		}
		if samples < 15 || samples > 20 {
			t.Errorf("%d samples in two seconds", samples)
		}
	})
}

// A source that compiles and has nothing to start.
func TestNothingToRun(t *testing.T) {
	rt := &fakeRuntime{}
	e := newFakeExecutor(rt)
	c, _ := rt.Create(t.Context(), sandbox.Spec{})
	r := &run{e: e, container: c, workspace: c.(*fakeContainer).trees[sandbox.WorkspaceDir],
		lang: fakeLanguage{info: language.Info{Name: "java", Title: "Java"}},
		plan: language.Plan{Compile: &language.Step{Args: []string{"javac"}}, Run: func(sandbox.FileTree) (language.Step, error) {
			return language.Step{}, language.NothingToRun("no class has a main method")
		}}}
	r.phases = []*phase{{name: api.PhaseCompile, stdout: newCapture(api.EventStdout, nil, 100, 0), stderr: newCapture(api.EventStderr, nil, 100, 0)}}
	if err := r.runProgram(t.Context(), sandbox.Spec{}); err != nil {
		t.Fatal(err)
	}
	res := r.result(nil)
	if res.Status != api.StatusCompileError || res.Message != "Java compile error: no class has a main method" || res.Stderr != "no class has a main method\n" {
		t.Errorf("%+v", res)
	}
	for _, why := range []error{fmt.Errorf("gone: %w", syscall.EAGAIN), fmt.Errorf("gone: %w", sandbox.ErrOutOfMemory)} {
		r.plan.Run = func(sandbox.FileTree) (language.Step, error) { return language.Step{}, why }
		r.phases = []*phase{{name: api.PhaseCompile, verdict: verdict{status: api.StatusOK}}}
		err := r.runProgram(t.Context(), sandbox.Spec{})
		if full := errors.Is(why, sandbox.ErrOutOfMemory); full != (err == nil) || full != (r.phases[0].verdict.status == api.StatusMemoryLimit) {
			t.Errorf("%v: %v, %+v", why, err, r.phases[0].verdict)
		}
	}
	rt.filesErr = errors.New("broken")
	if err := r.runProgram(t.Context(), sandbox.Spec{}); err == nil {
		t.Error("a build tree that cannot be read is an error")
	}
}

func TestOutputCapsAndCeilings(t *testing.T) {
	e := newFakeExecutor(&fakeRuntime{})
	for _, tc := range []struct {
		req           Request
		keep, ceiling int64
	}{
		{Request{}, 20 << 10, 64 << 20},
		{Request{MaxOutputBytes: 5, MaxStreamBytes: 6}, 5, 6},
		{Request{MaxStreamBytes: -1}, 20 << 10, 0},
	} {
		r := run{e: e, req: tc.req}
		if r.keep() != tc.keep || r.ceiling() != tc.ceiling {
			t.Errorf("%+v: %d and %d", tc.req, r.keep(), r.ceiling())
		}
	}
}

func TestStreamCeilingEndsTheRun(t *testing.T) {
	rt := &fakeRuntime{program: says(strings.Repeat("x", 100), "", 0)}
	req := echo()
	req.MaxStreamBytes, req.MaxOutputBytes = 10, 4
	res, err := newFakeExecutor(rt).Run(t.Context(), req, nil)
	if err != nil || res.Status != api.StatusOutputLimit || !res.Meta.Truncated || !strings.HasPrefix(res.Stdout, "xx\n[… 6 bytes left out …]\n") {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestToolchains(t *testing.T) {
	e := newFakeExecutor(&fakeRuntime{})
	e.cfg.Host = fakeGCC(t)
	found, missing := e.Toolchains(t.Context())
	has := func(name string) bool {
		return slices.ContainsFunc(found, func(tc language.Toolchain) bool { return tc.Language == name })
	}
	if !has("c") || !has("exec") || len(missing) < 3 {
		t.Errorf("found %+v, missing %+v", found, missing)
	}
}

func TestSpecHasWhatThePlanNeeds(t *testing.T) {
	rt := &fakeRuntime{}
	e := New(rt, DefaultConfig())
	lang, _, _ := language.Lookup("typescript")
	r := run{e: e, lang: lang, toolchain: language.Toolchain{Mounts: []sandbox.Mount{{Source: "/opt/t"}}}, plan: language.Plan{
		Mounts: []sandbox.Mount{{Target: "/empty"}}, Caches: []language.BuildCache{{Key: "k", Target: "/c"}},
		Compile: &language.Step{Args: []string{language.SelfPath}}}}
	if _, err := r.spec(t.Context()); err == nil || !strings.Contains(err.Error(), "data directory") {
		t.Errorf("error %v without a data directory", err)
	}
	e.cfg.DataDir = t.TempDir()
	for range 2 { // made, then found
		spec, err := r.spec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var targets []string
		for _, m := range spec.Mounts {
			targets = append(targets, m.Source+">"+m.Target)
		}
		if len(targets) != 4 || targets[0] != "/opt/t>" || targets[1] != ">/empty" || !strings.Contains(targets[2], "/tools/") || !strings.HasSuffix(targets[3], "cache/build/k>/c") || !spec.Mounts[3].Overlay || spec.Mounts[2].Overlay {
			t.Errorf("mounts %q", targets)
		}
	}
	r.plan.Caches[0].Key = "broken"
	rt.createErr = errors.New("broken")
	if _, err := r.spec(t.Context()); err == nil {
		t.Error("a cache that cannot be prepared is an error")
	}
}
