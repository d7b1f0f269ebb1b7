package executor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// warmRun is a run of a program that may have waited.
func warmRun() *run {
	return &run{
		e: newFakeExecutor(&fakeRuntime{}),
		plan: language.Plan{Ahead: []language.Ahead{
			{Step: language.Step{Args: []string{"python3", "main.py"}}, Args: []string{"x"}, Settings: []string{"PYTHON", "TZ"}},
		}},
	}
}

// What waits is told what it lacks, and a run that it cannot become is none of its.
func TestWork(t *testing.T) {
	env := []string{"A=b", "HOME=/workspace"}
	for name, c := range map[string]struct {
		change func(*run)
		want   *sandbox.Work
	}{
		"plain":            {func(*run) {}, &sandbox.Work{Args: []string{"x"}}},
		"environment":      {func(r *run) { r.req.Env = map[string]string{"A": "b"} }, &sandbox.Work{Args: []string{"x"}, Env: env}},
		"settings":         {func(r *run) { r.req.Env = map[string]string{"A": "b", "PYTHONHASHSEED": "1"} }, nil},
		"policy":           {func(r *run) { r.imports.hook = &policy.Hook{Dir: ".d", Script: "s.py"} }, &sandbox.Work{Args: []string{"x"}, Script: "/workspace/.d/s.py"}},
		"terminal":         {func(r *run) { r.req.TTY = &sandbox.TTY{} }, nil},
		"packages":         {func(r *run) { r.packages = &packages.Plan{} }, nil},
		"check":            {func(r *run) { r.check = true }, nil},
		"trace":            {func(r *run) { r.req.TraceDenied = true }, nil},
		"nothing to start": {func(r *run) { r.plan.Ahead = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := warmRun()
			c.change(r)
			if diff := cmp.Diff(c.want, r.work(api.PhaseRun, env)); diff != "" {
				t.Error(diff)
			}
			if wants := r.wants(sandbox.Spec{Language: "l"}, api.PhaseRun); len(wants) != 1 || wants[0].Spec.Language != "l" || (wants[0].Ahead == nil) != (c.want == nil) {
				t.Errorf("wants %+v", wants)
			}
		})
	}
}

// A container that holds something of its run's is no other's.
func TestCommonContainers(t *testing.T) {
	r := warmRun()
	if !r.common(sandbox.Spec{}) || r.common(sandbox.Spec{WorkspaceOnDisk: true}) {
		t.Error("what has a disk is common, or nothing is")
	}
	if r.release = func() {}; r.common(sandbox.Spec{}) {
		t.Error("what is released with its run is common")
	}
}

// A container that was ready serves one run, and the result says so.
func TestWarmContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &fakeRuntime{program: says("", "", 0)}
		cfg := DefaultConfig()
		cfg.Warm = sandbox.PoolOptions{Containers: 4, MemoryBytes: 1 << 40}
		e := New(rt, cfg)
		var warm []bool
		for range 4 {
			result, err := e.Run(t.Context(), echo(), nil)
			if err != nil {
				t.Fatal(err)
			}
			warm = append(warm, result.Meta.Warm)
			time.Sleep(time.Second)
		}
		if !slices.Equal(warm, []bool{false, false, true, true}) {
			t.Errorf("warm %v: the first makes no demand, the second does", warm)
		}
		if e.Warm()[echo().Language] != 1 {
			t.Errorf("ready: %v", e.Warm())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		rt.checkDeleted(t)
		for _, c := range rt.containers {
			if len(c.started) > 1 {
				t.Errorf("container %s had %d runs", c.id, len(c.started))
			}
		}
	})
}

// Who waits for nothing but the result does not wait for the end of the container.
func TestRemovedBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := errors.New("stuck")
		rt := &fakeRuntime{program: says("", "", 0), deleteErr: stuck}
		a, err := newFakeExecutor(rt).Admit(t.Context(), echo())
		if err != nil {
			t.Fatal(err)
		}
		a.Behind = true
		result, err := a.Run(t.Context(), nil)
		if err != nil || len(result.Meta.Warnings) != 1 { // which is the container's own
			t.Errorf("%v, %v", result, err)
		}
		if err := a.Removed(); !errors.Is(err, stuck) {
			t.Errorf("removed: %v", err)
		}
		rt.checkDeleted(t)
		if a, err = newFakeExecutor(rt).Admit(t.Context(), echo()); err != nil || a.Removed() != nil {
			t.Errorf("what was never run is removed with %v", err)
		}
	})
}

// Nothing runs before it may, and the result says what kept it.
func TestConfirm(t *testing.T) {
	for _, refuse := range []error{nil, errors.New("no audit line")} {
		rt := &fakeRuntime{program: says("out", "", 0)}
		a, err := newFakeExecutor(rt).Admit(t.Context(), echo())
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		a.Confirm = func() error {
			if asked++; len(rt.containers[0].started) > 0 {
				t.Error("it was asked when something ran")
			}
			return refuse
		}
		result, err := a.Run(t.Context(), nil)
		want := api.StatusOK
		if refuse != nil {
			want = api.StatusSandboxError
		}
		if err != nil || asked != 1 || result.Status != want || (len(rt.containers[0].started) > 0) != (refuse == nil) {
			t.Errorf("%v: asked %d times, %+v, %v", refuse, asked, result, err)
		}
		if refuse != nil && result.Message != "The sandbox failed: no audit line" {
			t.Errorf("message %q", result.Message)
		}
		rt.checkDeleted(t)
	}
}

// A toolchain that was found is the one that would be found, for a while and as long as it
// is what it was.
func TestFoundToolchains(t *testing.T) {
	program := filepath.Join(t.TempDir(), "python3")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	var f found
	known := func(key string) bool { _, ok := f.recall(key); return ok }
	f.remember("python@", language.Toolchain{Program: program, Version: "3.11"})
	f.remember("lost@", language.Toolchain{Program: program + "x"})
	if tc, ok := f.recall("python@"); !ok || tc.Version != "3.11" || known("python@3.12") || known("lost@") {
		t.Errorf("recalled %+v, %v", tc, ok)
	}
	write("22")
	if known("python@") {
		t.Error("another program is taken for it")
	}
	f.remember("python@", language.Toolchain{Program: program})
	f.known["python@"] = foundOne{f.known["python@"].toolchain, f.known["python@"].program, time.Now().Add(-time.Second)}
	if known("python@") {
		t.Error("it is known for ever")
	}
	if f.remember("go@", language.Toolchain{Program: program}); len(f.known) != 1 {
		t.Errorf("%d are remembered", len(f.known))
	}
}
