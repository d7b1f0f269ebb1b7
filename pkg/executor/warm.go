package executor

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// take gets the run's container: one that is ready, or a new one.
func (r *run) take(ctx context.Context, spec sandbox.Spec) (err error) {
	if !r.common(spec) {
		r.container, err = r.e.manager.Create(ctx, spec)
		return err
	}
	r.container, r.warm, err = r.e.manager.Take(ctx, r.wants(spec)...)
	return err
}

// common tells whether a container of spec may be any run's: it holds nothing of this one,
// and no disk.
func (r *run) common(spec sandbox.Spec) bool { return r.release == nil && !spec.WorkspaceOnDisk }

// wants are the run's container with what may wait in it, the best first.
func (r *run) wants(spec sandbox.Spec) []sandbox.Want {
	var wants []sandbox.Want
	for _, ahead := range r.ahead() {
		wants = append(wants, sandbox.Want{Spec: spec, Ahead: &sandbox.Ahead{Process: r.waits(ahead), Files: ahead.Files}})
	}
	if wants == nil {
		wants = []sandbox.Want{{Spec: spec}}
	}
	return wants
}

// usual are programs such as most are, by language: for them containers are ready before
// the first one comes.
var usual = []struct{ language, code string }{ //nolint:gochecknoglobals // a table
	{"python", "print()"},
	{"javascript", "0"},
	{"java", "class Main { public static void main(String[] args) {} }"},
	{"go", "package main; func main() {}"},
	{"rust", "fn main() {}"},
}

// Prewarm has a container ready for each of the usual languages that is installed and whose
// caches are there, for requests that are like that one otherwise. What cannot be is no error: the first run will tell.
func (e *Executor) Prewarm(ctx context.Context, like Request) {
	for _, program := range usual {
		like.Language, like.Code = program.language, []byte(program.code)
		a, err := e.Admit(ctx, like)
		if err != nil || a.failed != nil || !a.run.cached() {
			continue
		}
		if spec, err := a.run.spec(ctx); err == nil && a.run.common(spec) {
			e.manager.Prepare(a.run.wants(spec)[0], 1)
		}
		if a.run.release != nil {
			a.run.release()
		}
	}
}

// cached tells whether the caches of the run are there.
func (r *run) cached() bool {
	for _, cache := range r.plan.Caches {
		dir, err := r.e.cacheDir(cache.Key)
		if err != nil || !exists(dir) {
			return false
		}
	}
	return true
}

// Warm counts the containers that are ready, by language.
func (e *Executor) Warm() map[string]int { return e.manager.Ready() }

// Close deletes the containers that are ready. Nothing runs any more.
func (e *Executor) Close() error { return e.manager.Close() }

// ahead is what may have been started for the run; nil where this one would be told from
// others.
func (r *run) ahead() []language.Ahead {
	ahead := r.plan.Ahead
	if len(ahead) == 0 || r.packages != nil || r.check || r.req.TTY != nil || r.req.TraceDenied {
		return nil
	}
	for name := range r.req.Env {
		if slices.ContainsFunc(ahead[0].Settings, func(begin string) bool { _, is := strings.CutPrefix(name, begin); return is }) {
			return nil
		}
	}
	return ahead
}

// waits is the process that is started ahead of the run phase.
func (r *run) waits(ahead language.Ahead) sandbox.Process {
	in := r.runInput()
	return sandbox.Process{
		Args: ahead.Step.Args, Env: r.environment(ahead.Step, nil), Dir: ahead.Step.Dir,
		Limits: in.limits, Network: &in.network, ReadOnly: in.readOnly,
	}
}

// work is what a program that waits is told in order to be the run phase, which has that
// environment; nil where none may.
func (r *run) work(env []string) *sandbox.Work {
	ahead := r.ahead()
	if ahead == nil {
		return nil
	}
	w := &sandbox.Work{Args: ahead[0].Args}
	if len(r.req.Env) > 0 {
		w.Env = env
	}
	if hook := r.imports.hook; hook != nil {
		w.Script = path.Join(sandbox.WorkspaceDir, hook.Dir, hook.Script)
	}
	return w
}

// runInput is what the run phase needs beside its command.
func (r *run) runInput() phaseInput {
	in := phaseInput{stdin: r.req.Stdin, tty: r.req.TTY, limits: r.limits, network: r.req.Network, keep: r.keep(), ceiling: r.ceiling()}
	if r.plan.Compile != nil {
		in.readOnly = []string{sandbox.BuildDir} // what was compiled is the program's to read, not to change
	}
	return in
}
