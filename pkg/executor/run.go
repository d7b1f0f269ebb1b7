package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// run is one request on its way to a result.
type run struct {
	e      *Executor
	req    Request
	id     string
	began  time.Time
	events emitter

	lang      language.Language
	version   string // that was asked for
	img       sandbox.Image
	toolchain language.Toolchain
	limits    sandbox.Limits
	disk      sandbox.DiskLimit
	plan      language.Plan
	packages  *packages.Plan // nil when nothing is required
	imports   imports
	check     bool // what it would run is all that is wanted

	compiledKey  string    // names what is compiled, where that is kept
	reused, made *artefact // what was kept of it, and what is to be

	started   bool // accepted has said so
	container sandbox.Container
	others    []sandbox.Container // of phases before
	warm      bool                // the container was ready
	workspace sandbox.FileTree
	phases    []*phase
	filled    time.Time            // when the inputs were in the workspace
	doubtful  map[string]InputFile // of which a change may not show in what is known of a file
	files     collected
	warnings  []string
	compiled  *phase // has ended well, and is not told yet
	release   func() // of what the container uses, once it is gone
	behind    bool   // nobody waits for the end of its container
	removal   func() error
	confirm   func() error // is to be asked before anything runs; nil once it was
	queued    time.Duration
	setup     time.Duration
	collect   time.Duration
}

// admit checks the request and plans it. Nothing has happened yet when it
// fails.
func (r *run) admit(ctx context.Context) (err error) {
	if err := checkFiles(r.req); err != nil {
		return err
	}
	if err := checkWords(r.req); err != nil {
		return err
	}
	if err := checkCollect(r.req); err != nil {
		return err
	}
	if err := r.e.checkBounds(r.req); err != nil {
		return err
	}
	if err := r.checkNetwork(); err != nil {
		return err
	}
	if err := r.e.checkImage(r.req.Image); err != nil {
		return err
	}
	if err := r.checkTrace(); err != nil {
		return err
	}
	if err := r.resolve(ctx); err != nil {
		return err
	}
	if err := r.checkCode(); err != nil {
		return err
	}
	if err := r.planImports(); err != nil {
		return err
	}
	if r.limits, err = r.e.limits(r.req); err != nil {
		return err
	}
	if least := r.lang.Info().LeastMemoryBytes; r.limits.MemoryBytes < least {
		return &InputError{Field: "/limits/memory_mb", Detail: fmt.Sprintf("%s does not start with %s of memory: the least that works is %s",
			r.lang.Info().Title, sandbox.FormatBytes(r.limits.MemoryBytes), sandbox.FormatBytes(least))}
	}
	if r.disk, err = r.e.disk(r.req); err != nil {
		return err
	}
	if err = r.planPackages(); err != nil {
		return err
	}
	if r.plan, err = r.lang.Plan(r.toolchain, r.source(), r.resources()); err != nil {
		return &InputError{Field: r.sourceField(), Detail: err.Error()}
	}
	return checkTree(r.inputs())
}

// sourceField is the field of a request that says what its program is.
func (r *run) sourceField() string {
	switch {
	case r.req.Entry != "":
		return "/entry"
	case len(r.req.Code) == 0 && len(r.req.Files) > 0:
		return "/files"
	}
	return "/code"
}

// resolve finds the language and its toolchain.
func (r *run) resolve(ctx context.Context) error {
	var err error
	if r.lang, r.version, err = language.Lookup(r.req.Language); err != nil {
		return &InputError{Kind: InputUnknownLanguage, Field: "/language", Detail: err.Error()}
	}
	if r.img, err = r.image(ctx); err != nil {
		return err
	}
	key := r.lang.Info().Name + "@" + r.version
	if r.img.IsZero() {
		if tc, ok := r.e.found.recall(key); ok {
			r.toolchain = tc
			return nil
		}
	}
	host := r.e.cfg.Host
	host.Want = &r.version
	var failed error
	host.Failed = func(err error) { failed = cmp.Or(failed, err) }
	found, missing, err := r.e.find(ctx, r.lang, r.root(), r.img, host)
	if ctx.Err() != nil {
		return errCancelled // what was not found may be there
	}
	if err != nil {
		return refused(err)
	}
	if len(found) == 0 && failed != nil { // what was not found may be there, too
		return fmt.Errorf("look for %s: %w", r.lang.Info().Title, failed)
	}
	if len(found) == 0 {
		return r.noToolchain(missing)
	}
	if r.toolchain, err = language.Select(found, r.version); err != nil {
		return &InputError{Kind: InputNoToolchain, Field: "/language", Detail: err.Error()}
	}
	if r.img.IsZero() {
		r.e.found.remember(key, r.toolchain)
	}
	return nil
}

// noToolchain says why the language cannot run.
func (r *run) noToolchain(missing []language.Missing) error {
	info := r.lang.Info()
	detail := info.Title + " is not installed"
	if len(missing) > 0 {
		detail += ": " + missing[0].Reason
	}
	if info.Install != "" && r.img.IsZero() {
		detail += ". On Debian or Ubuntu: " + info.Install
	}
	detail += ". See what there is: sandbox-run languages"
	return &InputError{Kind: InputNoToolchain, Field: "/language", Detail: detail}
}

func (r *run) resources() language.Resources {
	c := r.e.cfg.Compile
	return language.Resources{
		MemoryBytes: r.limits.MemoryBytes, CPUs: r.limits.CPUs,
		CompileMemoryBytes: c.MemoryBytes, CompileCPUs: c.CPUs,
	}
}

// execute makes the container, runs the phases and collects. Its error is ours,
// or an [*InputError].
func (r *run) execute(ctx context.Context) (err error) {
	defer func() {
		if r.release != nil && r.removal == nil {
			r.release()
		}
	}()
	readable := r.readImports(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if !readable {
		_ = r.accepted()
		return nil
	}
	if ready, err := r.install(ctx); err != nil || !ready {
		return err
	}
	begin := time.Now()
	r.recall()
	var spec sandbox.Spec
	err = withKept(func() (err error) {
		if spec, err = r.spec(ctx); err != nil {
			return err
		}
		if err := r.take(ctx, spec); err != nil {
			return refused(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fault.Point("container made")
	defer r.removeLast(ctx)
	if r.workspace, err = r.container.Files(sandbox.WorkspaceDir); err != nil {
		return err
	}
	if err := r.checkStrict(r.container); err != nil {
		return err
	}
	if err := r.fillWorkspace(r.workspace); err != nil {
		return r.doesNotFit(r.container.Isolation(), err)
	}
	fault.Point("workspace filled")
	r.setup = time.Since(begin)
	if r.accepted() != nil {
		return nil // the caller has gone; the result says cancelled
	}
	if ok, err := r.compile(ctx); !ok {
		return err
	}
	fault.Point("compiled")
	return r.runProgram(ctx, spec)
}

// remove deletes containers. What could not be is for gc, and no fault of the run.
func (r *run) remove(ctx context.Context, all ...sandbox.Container) {
	if err := r.removeAll(ctx, all); err != nil {
		r.warn(r.e.Told("something of the sandbox was left behind; sandbox-run gc removes it: " + strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
}

// removeAll deletes containers, also when ctx is done: what was made is always removed.
func (r *run) removeAll(ctx context.Context, all []sandbox.Container) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, r.e.manager.Return(context.WithoutCancel(ctx), c.ID()))
	}
	return errors.Join(errs...)
}

// removeLast deletes the run's containers, or says how: who does it releases what they
// use.
func (r *run) removeLast(ctx context.Context) {
	all := append(slices.Clip(r.others), r.container)
	if !r.behind {
		r.remove(ctx, all...)
		r.keepMade()
		return
	}
	r.removal = func() error {
		err := r.removeAll(ctx, all)
		if r.release != nil {
			r.release()
		}
		r.keepMade()
		return err
	}
}

// accepted says that the request is: what starts has a result. It is the first
// event, and comes once.
func (r *run) accepted() error {
	if r.started {
		return nil
	}
	r.started = true
	err := r.events.emit(api.Event{Type: api.EventStart, ID: r.id, Language: r.toolchain.Language, Version: r.toolchain.Version})
	for _, text := range slices.Concat(r.warnings, r.isolationWarnings()) {
		err = r.events.emit(api.Event{Type: api.EventWarning, Message: text})
	}
	return err
}

// errCancelled is the end that the caller asked for.
var errCancelled = errors.New("the run was cancelled")

// cancelled tells an error that is nothing but ctx being done, whichever step it
// came from.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// refused turns what cannot be enforced into the caller's error.
func refused(err error) error {
	if fault := networkFault(err); fault != nil {
		return fault
	}
	var image *sandbox.ImageError
	if errors.As(err, &image) { // which not every runtime knows beforehand
		return &InputError{Field: "/image", Detail: image.Error()}
	}
	var unsupported *sandbox.UnsupportedError
	if errors.As(err, &unsupported) {
		return &InputError{Kind: InputUnsupported, Detail: err.Error()}
	}
	return fmt.Errorf("create the container: %w", err)
}

// spec is what the container is made of.
func (r *run) spec(ctx context.Context) (sandbox.Spec, error) {
	spec := r.root()
	spec.Network, spec.Disk, spec.WorkspaceOnDisk, spec.MemoryBytes = r.req.Network, r.disk, r.req.WorkspaceOnDisk, r.memoryBytes()
	spec.Mounts = slices.Concat(r.toolchain.Mounts, r.plan.Mounts)
	if r.packages != nil {
		environment, err := r.environmentMount(ctx)
		if err != nil {
			return spec, err
		}
		spec.Mounts = append(spec.Mounts, environment)
	}
	if r.plan.Compile == nil {
		return spec, nil
	}
	spec.BuildDisk = diskLimit(r.e.cfg.CompileDiskBytes)
	if r.plan.Compile.Args[0] == language.SelfPath {
		self, release, err := r.selfMount(ctx)
		if err != nil {
			return spec, err
		}
		if r.release != nil { // of a try before
			r.release()
		}
		r.release = release
		spec.Mounts = append(spec.Mounts, self)
	}
	for _, c := range r.plan.Caches {
		mount, err := r.cacheMount(ctx, c)
		if err != nil {
			return spec, err
		}
		spec.Mounts = append(spec.Mounts, mount)
	}
	return spec, nil
}

// compile runs the compile phase, if there is one, and tells whether to go on.
func (r *run) compile(ctx context.Context) (bool, error) {
	if r.plan.Compile == nil {
		return true, nil
	}
	if r.reused != nil {
		if brought, err := r.bring(); brought || err != nil {
			return err == nil && r.phases[len(r.phases)-1].verdict.status == api.StatusOK, err
		}
	}
	ph := r.phase(ctx, api.PhaseCompile, r.reporting(*r.plan.Compile), r.input(api.PhaseCompile))
	if ph.verdict.status != api.StatusOK {
		return false, nil
	}
	r.remember(ctx, ph)
	return true, nil
}

// runProgram runs the program and collects its files.
func (r *run) runProgram(ctx context.Context, spec sandbox.Spec) error {
	var build sandbox.FileTree
	in := r.input(api.PhaseRun)
	if r.plan.Compile != nil {
		var err error
		if build, err = r.container.Files(sandbox.BuildDir); err != nil {
			return err
		}
	}
	step, err := r.plan.Run(build)
	if err == nil {
		r.settleCompiled()
	}
	if nothing, ok := errors.AsType[language.NothingToRun](err); ok {
		r.nothingToRun(nothing)
		return nil
	}
	if errors.Is(err, sandbox.ErrOutOfMemory) {
		r.filledMemory()
		return nil
	}
	if err != nil {
		return err
	}
	if r.check {
		if step, ok := r.checkStep(step); ok {
			r.phase(ctx, api.PhaseRun, step, in)
		}
		return nil
	}
	if r.packages != nil {
		r.toolchain.Program = environmentPython // whose directory is then in PATH
		step.Args = append([]string{environmentPython}, step.Args[1:]...)
	}
	if r.req.Dir != "" {
		step.Dir = r.workdir()
	}
	if err := r.moveApart(ctx, spec, step); err != nil {
		return err
	}
	before, err := snapshot(ctx, r.workspace)
	if err != nil {
		return err
	}
	r.doubtful = r.doubtfulInputs(before)
	if ph := r.phase(ctx, api.PhaseRun, step, in); ph.unsupported != nil {
		return refused(ph.unsupported)
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), sandbox.ErrAbandoned) {
		ctx = context.WithoutCancel(ctx) // who has stopped the program waits for what it has made
	}
	begin := time.Now()
	r.files = r.gatherFiles(ctx, before)
	fault.Point("files collected")
	r.collect = time.Since(begin)
	if errors.Is(r.files.err, sandbox.ErrOutOfMemory) {
		r.filledMemory()
		return nil
	}
	return r.files.err
}

// filledMemory is a program that has left so much in memory, its files included, that there
// is nobody left to ask for them.
func (r *run) filledMemory() {
	r.warn("files of the program are lost: they filled the memory that holds them")
	last := r.phases[len(r.phases)-1]
	if last.verdict.status == api.StatusOK {
		last.outOfMemory()
	}
}

// nothingToRun is a source that compiled and has nothing to start, such as a
// Java program without a main method.
func (r *run) nothingToRun(err language.NothingToRun) {
	last := r.phases[len(r.phases)-1]
	last.exit.Code = 1 // the compiler itself was content
	last.verdict = verdict{status: api.StatusCompileError, message: r.lang.Info().Title + " compile error: " + err.Error()}
	_, _ = last.stderr.Write([]byte(err.Error() + "\n"))
}

// doesNotFit tells sources that are larger than the workspace from failures. Where no
// file system of its own holds the workspace's limit, it is the host's that is full.
func (r *run) doesNotFit(i sandbox.Isolation, err error) error {
	if isNoSpace(err) && i.Limits["disk"] != api.Sampled {
		return &InputError{Field: "/limits/disk_mb", Detail: fmt.Sprintf("the sources do not fit on the workspace's disk of %s: %v", sandbox.FormatBytes(r.disk.Bytes), err)}
	}
	return err
}

// keep is how much of each stream the result keeps.
func (r *run) keep() int64 {
	if r.req.MaxOutputBytes > 0 {
		return r.req.MaxOutputBytes
	}
	return r.e.cfg.MaxOutputBytes
}

// ceiling is where a stream ends its run; 0 is nowhere.
func (r *run) ceiling() int64 {
	switch {
	case r.req.MaxStreamBytes < 0:
		return 0
	case r.req.MaxStreamBytes > 0:
		return r.req.MaxStreamBytes
	}
	return r.e.cfg.MaxStreamBytes
}

func (r *run) diskUsage() (sandbox.DiskUsage, error) { return r.workspace.Usage() }

func (r *run) liveMetrics(m api.Metrics) {
	_ = r.events.emit(api.Event{Type: api.EventMetrics, Metrics: &m})
}
