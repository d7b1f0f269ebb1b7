package executor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Admitted is a request that was checked and planned, and that has not begun.
// It is for one run, by one goroutine.
type Admitted struct {
	// Behind leaves the end of the container to [Admitted.Removed], which is then to be
	// called; else nothing of it is left when Run returns.
	Behind bool
	// Confirm, if not nil, is called before anything of the request runs, and nothing does
	// if it fails: that is a failure of ours.
	Confirm func() error

	run *run
	// failed is what went wrong on our side while it was planned: the result's.
	failed error
}

// Admit checks a request and plans it. Nothing is made, and nothing runs. The
// error is an [*InputError].
func (e *Executor) Admit(ctx context.Context, req Request) (*Admitted, error) {
	return e.admit(ctx, req, false)
}

func (e *Executor) admit(ctx context.Context, req Request, check bool) (*Admitted, error) {
	now := time.Now()
	a := &Admitted{run: &run{e: e, req: req, check: check, id: NewID(now), began: now, warnings: slices.Clone(e.cfg.Warnings)}}
	err := a.run.admit(ctx)
	var input *InputError
	if errors.As(err, &input) {
		return nil, input
	}
	if cancelled(ctx, err) {
		err = errCancelled
	}
	a.failed = err
	return a, nil
}

// ID is the id that the result will have.
func (a *Admitted) ID() string { return a.run.id }

// Language and version are as resolved.
func (a *Admitted) Language() (name, version string) {
	return a.run.toolchain.Language, a.run.toolchain.Version
}

// MemoryBytes is the most memory that any phase may use.
func (a *Admitted) MemoryBytes() int64 { return a.run.memoryBytes() }

func (r *run) memoryBytes() int64 {
	if r.plan.Compile != nil || r.mustInstall() {
		return max(r.limits.MemoryBytes, r.e.cfg.Compile.MemoryBytes)
	}
	return r.limits.MemoryBytes
}

// Limits are those of the run phase, with the defaults filled in.
func (a *Admitted) Limits() api.ResourceLimits { return a.run.resourceLimits() }

// Failure is the result of a failure of ours that has kept the run from beginning.
func (a *Admitted) Failure(err error) *api.Result {
	result := a.run.e.Failure(err)
	result.ID, result.Language, result.Version = a.run.id, a.run.toolchain.Language, a.run.toolchain.Version
	result.Meta = a.run.meta()
	return result
}

// Queued tells how long the request waited before its run; it becomes a figure
// of the result.
func (a *Admitted) Queued(d time.Duration) { a.run.queued = d }

// Removed removes what is left of a run whose container is removed behind, and tells what is
// left all the same. It is called after Run, or in its place, and once.
func (a *Admitted) Removed() error {
	if a.run.removal == nil {
		return nil
	}
	return a.run.removal()
}

// Run runs what was admitted; see [Executor.Run]. What is refused after the first event, or after
// a phase, has a result as well: for the events to end with, and with what it has cost.
func (a *Admitted) Run(ctx context.Context, sink Sink) (*api.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := a.run
	r.behind, r.confirm = a.Behind, a.Confirm
	abandon := func() { cancel(sandbox.ErrAbandoned) }
	r.events = emitter{sink: sink, start: r.began, cancel: abandon}
	defer r.events.heartbeats(r.e.cfg.Heartbeat)()
	err := a.failed
	if err == nil {
		err = r.execute(ctx)
	}
	var input *InputError
	if errors.As(err, &input) && len(r.phases) == 0 && r.events.refuse() {
		return nil, input
	}
	if cancelled(ctx, err) {
		err = errCancelled
	}
	r.settleCompiled()
	result := r.result(err)
	_ = r.events.emit(api.Event{Type: api.EventResult, Result: result})
	if input != nil {
		return result, input
	}
	return result, nil
}
