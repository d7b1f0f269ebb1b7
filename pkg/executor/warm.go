package executor

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// take gets the run's container: one that is ready, or a new one.
func (r *run) take(ctx context.Context, spec sandbox.Spec) (err error) {
	if !r.common(spec) {
		r.container, err = r.e.manager.Create(ctx, spec)
		return err
	}
	phase := r.apartPhases()[0]
	if r.reused != nil {
		phase = api.PhaseRun
	}
	r.container, r.warm, err = r.e.manager.Take(ctx, r.wants(spec, phase)...)
	return err
}

// common tells whether a container of spec may be any run's: it holds nothing of this one,
// and no disk.
func (r *run) common(spec sandbox.Spec) bool { return r.release == nil && !spec.WorkspaceOnDisk }

// wants are a container for a phase with what may wait in it, the best first.
func (r *run) wants(spec sandbox.Spec, phase string) []sandbox.Want {
	var wants []sandbox.Want
	for _, a := range r.ahead(phase) {
		in := r.input(phase)
		wants = append(wants, sandbox.Want{Spec: spec, Ahead: &sandbox.Ahead{
			Process: sandbox.Process{
				Args: a.Step.Args, Env: r.environment(a.Step, nil), Dir: a.Step.Dir,
				Limits: in.limits, Network: &in.network, ReadOnly: in.readOnly,
			},
			Files: a.Files, BuildDirs: a.Dirs, Quiet: a.Input != nil, Again: a.Again, Ancestor: a.Ancestor, Sooner: a.Sooner,
		}})
	}
	if wants == nil {
		wants = []sandbox.Want{{Spec: spec}}
		if in := r.input(phase); in.tty == nil && !r.req.TraceDenied && !r.mustInstall() {
			wants[0].First = &sandbox.Process{Limits: in.limits, Network: &in.network, ReadOnly: in.readOnly}
		}
	}
	return wants
}

// moveApart has the run phase of a program that was compiled in a container of its own, with
// what was compiled, and the sources: if there is one in which that very command waits, or
// if the compiler's is to be kept.
func (r *run) moveApart(ctx context.Context, spec sandbox.Spec, step language.Step) error {
	if len(r.plan.CompileAhead) == 0 || !r.common(spec) {
		return nil
	}
	ahead := r.ahead(api.PhaseRun)
	if len(ahead) > 0 && !slices.Equal(step.Args, ahead[0].Command) {
		r.plan.Ahead, ahead = nil, nil // what waits, if anything does, is another program
	}
	if r.reused != nil {
		return nil
	}
	var c sandbox.Container
	keeps := r.e.manager.Keeps(r.container.ID())
	switch {
	case keeps:
		var err error
		var ready bool
		if c, ready, err = r.e.manager.Take(ctx, r.wants(spec, api.PhaseRun)...); err != nil {
			return refused(err)
		}
		r.warm = r.warm && ready
	case len(ahead) > 0:
		c = r.e.manager.TakeReady(r.wants(spec, api.PhaseRun)...)
	}
	if c == nil {
		return nil
	}
	compiler := r.container
	r.container = c // which is removed with the run, whatever happens
	if keeps {
		defer r.remove(ctx, compiler) // its memory is not to be beside the program's
	} else {
		r.others = append(r.others, compiler)
	}
	from, err := compiler.Files(sandbox.BuildDir)
	if err != nil {
		return err
	}
	if r.workspace, err = c.Files(sandbox.WorkspaceDir); err != nil {
		return err
	}
	build, err := c.Files(sandbox.BuildDir)
	if err == nil {
		err = copyMade(from, build, r.plan.CompileAhead[0].Dirs, r.e.cfg.CompileDiskBytes)
	}
	if err != nil {
		return fmt.Errorf("bring what was compiled: %w", err)
	}
	if err := r.fillWorkspace(r.workspace); err != nil {
		return r.doesNotFit(c.Isolation(), err)
	}
	return nil
}

// copyMade copies directories from one container to another.
func copyMade(from, to sandbox.FileTree, dirs []string, most int64) error {
	for _, dir := range dirs {
		err := walkMade(from, dir, most, func(name string, info sandbox.FileInfo) error {
			if info.Mode.IsDir() {
				return to.MkdirAll(path.Join(dir, name))
			}
			f, err := from.Open(info.Path)
			if err != nil {
				return err
			}
			defer f.Close()
			return to.WriteFile(path.Join(dir, name), io.LimitReader(f, info.Size), info.Mode.Perm())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Usual are requests such as most are, one for each of the usual languages: for them
// containers are ready before the first one comes.
func Usual() []Request {
	return []Request{
		{Language: "python", Code: []byte("print()")},
		{Language: "javascript", Code: []byte("0")},
		{Language: "java", Code: []byte("class Main { public static void main(String[] args) {} }")},
		{Language: "go", Code: []byte("package main; func main() {}")},
		{Language: "rust", Code: []byte("fn main() {}")},
	}
}

// Prewarm has a container ready for each of the usual languages that is installed, for requests
// that are like that one otherwise. Those of which a cache has to be prepared before are left, for
// [Executor.Prepare]. What cannot be is no error: the first run will tell.
func (e *Executor) Prewarm(ctx context.Context, like Request) (left []Request) {
	for _, program := range Usual() {
		like.Language, like.Code = program.Language, program.Code
		if !e.prewarm(ctx, like, false) {
			left = append(left, like)
		}
	}
	return left
}

// Prepare has a container ready for such requests as [Executor.Prewarm] has left, and the caches of their
// language before, as far as that takes no memory that runs may be granted.
func (e *Executor) Prepare(ctx context.Context, req Request) { e.prewarm(ctx, req, true) }

// prewarm has a container ready for such requests, or gives that up, and tells whether nothing is left
// to be prepared.
func (e *Executor) prewarm(ctx context.Context, req Request, prepares bool) bool {
	a, err := e.Admit(ctx, req)
	if err != nil || a.failed != nil {
		return true
	}
	if release := a.run.release; release != nil {
		defer release()
	}
	if !a.run.cached() && (!prepares || !a.run.prepareCaches(ctx)) {
		return false
	}
	a.run.keepReady(ctx)
	return true
}

// keepReady has a container ready for each phase of the run.
func (r *run) keepReady(ctx context.Context) {
	if spec, err := r.spec(ctx); err == nil && r.common(spec) {
		for _, phase := range r.apartPhases() {
			r.e.manager.Prepare(r.wants(spec, phase)[0], 1)
		}
	}
}

// fillShare is how much of the memory of what is made ahead may be taken to fill a cache before
// somebody needs it: as much again, which is given back.
const fillShare = 2

// prepareCaches prepares this machine's caches for the run, where that takes no memory that others
// were granted, and tells whether they are there.
func (r *run) prepareCaches(ctx context.Context) bool {
	if r.toolchain.Image != "" || r.img.Elsewhere || r.e.cfg.Compile.MemoryBytes > fillShare*r.e.cfg.Warm.MemoryBytes {
		return false
	}
	for _, cache := range r.plan.Caches {
		if _, err := r.buildCache(ctx, cache); err != nil {
			if ctx.Err() == nil {
				r.e.notify(err.Error())
			}
			return false
		}
	}
	return true
}

// apartPhases are those that may have containers of their own: the first, and the run phase
// if its program waits in another.
func (r *run) apartPhases() []string {
	switch {
	case r.plan.Compile == nil:
		return []string{api.PhaseRun}
	case len(r.ahead(api.PhaseRun)) > 0:
		return []string{api.PhaseCompile, api.PhaseRun}
	}
	return []string{api.PhaseCompile}
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

// Ancestors counts the interpreters that wait to be forked.
func (e *Executor) Ancestors() int { return e.manager.Ancestors() }

// Close deletes the containers that are ready. Nothing runs any more.
func (e *Executor) Close() error { return e.manager.Close() }

// ahead is what may have been started for a phase; nil where this run would be told from
// others.
func (r *run) ahead(phase string) []language.Ahead {
	ahead := r.plan.Ahead
	if phase == api.PhaseCompile {
		return r.plan.CompileAhead // which has nothing of the request but its files
	}
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

// work is what a program that waits is told in order to be a phase, which has that
// environment; nil where none may.
func (r *run) work(phase string, env []string) *sandbox.Work {
	ahead := r.ahead(phase)
	if ahead == nil {
		return nil
	}
	w := &sandbox.Work{Args: ahead[0].Args, Input: ahead[0].Input}
	if phase == api.PhaseCompile {
		return w
	}
	if len(r.req.Env) > 0 {
		w.Env = env
	}
	if hook := r.imports.hook; hook != nil {
		w.Script = path.Join(sandbox.WorkspaceDir, hook.Dir, hook.Script)
	}
	return w
}

// input is what a phase needs beside its command.
func (r *run) input(phase string) phaseInput {
	if phase == api.PhaseCompile {
		limits := r.e.cfg.Compile
		if r.req.CompileTimeout > 0 {
			limits.WallTime = r.req.CompileTimeout
		}
		return phaseInput{limits: limits, keep: r.keep(), ceiling: r.ceiling()}
	}
	in := phaseInput{stdin: r.req.Stdin, tty: r.req.TTY, limits: r.limits, network: r.req.Network, keep: r.keep(), ceiling: r.ceiling()}
	if r.plan.Compile != nil {
		in.readOnly = []string{sandbox.BuildDir} // what was compiled is the program's to read, not to change
	}
	return in
}
