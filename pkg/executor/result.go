package executor

import (
	"cmp"
	"errors"
	"maps"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// result folds a run. err is a failure of ours, or nil.
func (r *run) result(err error) *api.Result {
	res := &api.Result{
		ID: r.id, Language: r.toolchain.Language, Version: r.toolchain.Version,
		ExitCode: -1,
		Files:    r.files.files, FilesSkipped: r.files.skipped,
		Meta: r.meta(),
	}
	var shown *phase
	for _, ph := range r.phases {
		res.Phases = append(res.Phases, ph.api())
		res.Meta.Truncated = res.Meta.Truncated || ph.truncated()
		res.Meta.Violations = append(append(res.Meta.Violations, ph.verdict.notes...), ph.exit.Violations...)
		if shown == nil || shown.verdict.status == api.StatusOK {
			shown = ph
		}
	}
	switch {
	case err != nil:
		r.fail(res, err)
	case shown == nil && r.check: // nothing of it can be parsed without a run
		res.Status = api.StatusOK
	case shown == nil && r.imports.refuses():
		res.Status, res.Message = api.StatusPolicyBlocked, blockedBy(r.imports.found)
	case shown == nil:
		res.Status, res.Message = api.StatusCancelled, messageCancelled
	default:
		r.show(res, shown)
		if hint := r.networkHint(shown, res.Meta.Isolation["network"]); hint != "" {
			res.Meta.Warnings = append(res.Meta.Warnings, hint)
		}
	}
	res.Success = res.Status == api.StatusOK
	return res
}

// show fills in the phase that the result is about.
func (r *run) show(res *api.Result, ph *phase) {
	v := ph.verdict
	res.Status, res.Message, res.Limit = v.status, v.message, v.limit
	res.ExitCode, res.Signal = ph.code(), signalName(ph.exit.Signal)
	res.Stdout, res.StdoutBase64, _ = ph.stdout.text()
	res.Stderr, res.StderrBase64, _ = ph.stderr.text()
	if ph.name != api.PhaseRun && strings.TrimSpace(res.Stderr) == "" {
		// A compiler's diagnostics are in stderr, whichever stream it used.
		res.Stdout, res.Stderr = res.Stderr, res.Stdout
		res.StdoutBase64, res.StderrBase64 = res.StderrBase64, res.StdoutBase64
	}
	res.Metrics = ph.metrics
	setup, collect, queue := r.setup.Seconds(), r.collect.Seconds(), r.queued.Seconds()
	res.Metrics.SetupS, res.Metrics.CollectS, res.Metrics.QueueS = &setup, &collect, &queue
	res.Metrics.Sources = map[string]string{"setup_s": "runtime", "collect_s": "runtime", "queue_s": "runtime"}
	maps.Copy(res.Metrics.Sources, ph.metrics.Sources)
	if ph.name == api.PhaseRun && ph.started {
		res.ExecutionTime = ph.exit.Duration.Seconds()
		if p := cmp.Or(ph.metrics.MemoryPeakBytes, ph.exit.Metrics.MemoryPeakBytes); p != nil {
			res.MemoryUsed = *p
		}
	}
	if v.status == api.StatusSandboxError {
		res.Retryable = &v.retryable
	}
}

// fail makes the result one about us, or about a caller who has gone.
func (r *run) fail(res *api.Result, err error) {
	if n := len(r.phases); n > 0 {
		r.show(res, r.phases[n-1])
	}
	if errors.Is(err, errCancelled) {
		res.Status, res.Message, res.Limit, res.Retryable = api.StatusCancelled, messageCancelled, nil, nil
		return
	}
	ours := r.e.Failure(err)
	res.Status, res.Limit, res.Retryable, res.Message = ours.Status, nil, ours.Retryable, ours.Message
	if input, refused := errors.AsType[*InputError](err); refused {
		res.Message = input.Detail
	}
}

// Failure is the result of a run that a failure of ours has kept from beginning.
func (e *Executor) Failure(err error) *api.Result {
	retryable := isTransient(err)
	message := "The sandbox failed: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	return &api.Result{Status: api.StatusSandboxError, ExitCode: -1, Retryable: &retryable, Message: e.Told(message)}
}

// Told is text as those are told who send requests ([Config.Told]).
func (e *Executor) Told(text string) string {
	if e.cfg.Told == nil || fault.Off("told", "of this host") {
		return text
	}
	return e.cfg.Told(text)
}

// resourceLimits are those of the run phase; who holds them is not known yet.
func (r *run) resourceLimits() api.ResourceLimits {
	return api.ResourceLimits{
		TimeoutSeconds: r.limits.WallTime.Seconds(), CPUSeconds: r.limits.CPUTime.Seconds(),
		MemoryBytes: r.limits.MemoryBytes, CPUCores: r.limits.CPUs, DiskBytes: r.disk.Bytes,
		Processes: r.limits.Processes, OpenFiles: r.limits.OpenFiles,
		MaxOutputBytes: r.keep(), StreamLimitBytes: r.ceiling(),
		Enforcement: map[string]string{},
	}
}

func (r *run) meta() api.Meta {
	blocked := r.blockedImports()
	m := api.Meta{
		Runtime:        r.e.runtime.Name(),
		Image:          r.img.String(),
		Warnings:       r.warnings,
		Network:        r.networkMeta(),
		BlockedImports: blocked,
		ResourceLimits: r.resourceLimits(),
		Isolation:      map[string]string{},
		Warm:           r.warm,
		CachedCompile:  r.reused != nil,
	}
	if r.container == nil {
		return m
	}
	if priced, ok := r.container.(sandbox.Priced); ok {
		if cost, known := priced.Cost(); known {
			m.Cost = &api.Cost{Amount: cost.Amount, Seconds: cost.Seconds, CPUCores: cost.CPUs, MemoryBytes: cost.MemoryBytes}
		}
	}
	isolation := r.container.Isolation()
	m.IsolationLevel = string(isolation.Level)
	m.Isolation = isolation.Mechanisms
	m.ResourceLimits.Enforcement = isolation.Limits
	m.Warnings = append(m.Warnings, r.isolationWarnings()...)
	return m
}

// warn tells what is not as it should be, and does not end the run.
func (r *run) warn(text string) {
	r.warnings = append(r.warnings, text)
	if r.started {
		_ = r.events.emit(api.Event{Type: api.EventWarning, Message: text})
	}
}

// isolationWarnings are those of the container, if there is one.
func (r *run) isolationWarnings() (texts []string) {
	if r.container == nil {
		return nil
	}
	for _, text := range r.container.Isolation().Warnings {
		texts = append(texts, r.e.Told(text))
	}
	return texts
}
