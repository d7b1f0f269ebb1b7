package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// execute answers POST /execute.
func (s *Server) execute(w http.ResponseWriter, r *http.Request) {
	ctx, span := traced(r)
	defer span.End()
	r = r.WithContext(ctx)
	if err := s.serve(w, r); err != nil {
		tell(span, err)
		s.fail(w, r, err)
	}
}

// serve is the way of one request. Its error is what to answer while nothing has
// been answered yet.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	if err := s.drained(); err != nil {
		return err
	}
	who, err := s.principal(r)
	if err != nil {
		return err
	}
	return s.ours(s.serveTo(w, r, who), s.Executor.Failure)
}

// serveTo is the way of a request whose sender is known.
func (s *Server) serveTo(w http.ResponseWriter, r *http.Request, who auth.Principal) error {
	if err := wire.CheckMedia(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	charged, err := s.charge(who)
	if err != nil {
		return err
	}
	defer charged.Release()
	if err := s.Ledger.Look(who.Tenant); err != nil {
		return err
	}
	arriving := &arrivingBody{ReadCloser: r.Body, bodies: s.bodies, tenant: who.Tenant}
	defer arriving.release()
	req, err := s.read(w, r, arriving)
	if err != nil {
		return err
	}
	req.Tenant = who.Tenant
	if err := s.bound(&req); err != nil {
		return err
	}
	ctx, leave := s.runContext(r)
	defer leave()
	admitted, err := s.Executor.Admit(ctx, req)
	if err != nil {
		return wire.Refused(err)
	}
	waiting, waited := tracer().Start(ctx, "queue")
	grant, err := s.place(waiting, capacity.Demand{Tenant: who.Tenant, MemoryBytes: admitted.MemoryBytes()})
	waited.End()
	arriving.release() // who has a place is in the ledger
	if never, ok := errors.AsType[*capacity.TooLargeError](err); ok && never.Bytes > admitted.Limits().MemoryBytes {
		return compilersDoNotFit(never)
	}
	if err != nil {
		return err
	}
	defer grant.Release()
	admitted.Queued(grant.Waited)
	err = s.run(ctx, w, r, who, sourceHash(req), admitted, func(result *api.Result) {
		grant.Release()
		charged.Spend(used(result))
		charged.Release()
	})
	return s.ours(err, admitted.Failure)
}

// compilersDoNotFit refuses a run for memory that it is not the caller's to choose.
func compilersDoNotFit(never *capacity.TooLargeError) *api.Problem {
	p := wire.Invalid(api.ProblemError{Detail: fmt.Sprintf("this server cannot compile or install anything: that takes %d MiB of memory (SANDBOX_COMPILE_MEMORY_MB), "+
		"and all runs together are granted %d MiB (SANDBOX_TOTAL_MEMORY_MB); its operator can lower the one or raise the other", never.Bytes>>20, never.Limit>>20)})
	p.Type = wire.TypeUnsupported
	return p
}

// place waits for a place, unless the server has begun to shut down while the request arrived,
// or does so meanwhile and ends what runs.
func (s *Server) place(ctx context.Context, d capacity.Demand) (*capacity.Grant, error) {
	s.placed.Add(1)
	s.placing.Add(1) // before the look, so that who shuts down sees one of the two
	defer s.placing.Add(-1)
	if err := s.drained(); err != nil {
		return nil, err
	}
	grant, err := s.Ledger.Acquire(ctx, d)
	if s.runs.Err() == nil {
		return grant, err
	}
	if err == nil { // of one that was ended
		grant.Release()
	}
	return nil, cmp.Or(s.drained(), s.runs.Err())
}

// run runs what was admitted, and answers it as soon as it has given back what it took:
// what else is to be done comes after that.
func (s *Server) run(ctx context.Context, w http.ResponseWriter, r *http.Request, who auth.Principal, source string, admitted *executor.Admitted, giveBack func(*api.Result)) error {
	written, ended, err := s.begin(ctx, r, who, source, admitted)
	if err != nil {
		return err
	}
	admitted.Confirm = written
	stream := newStream(w, r)
	var sink executor.Sink
	if stream != nil {
		sink = stream.send
		if err := written(); err != nil { // before the first event
			return err
		}
		admitted.Confirm = nil
	}
	ctx, span := tracer().Start(ctx, "run")
	// Who makes containers faster than they can be removed waits for them.
	remove := func() {}
	if admitted.Behind = s.removing.Add(1) <= int64(s.Ledger.Limits().Runs); admitted.Behind {
		remove = sync.OnceFunc(func() { s.removeBehind(admitted) })
		defer remove()
	} else {
		s.removing.Add(-1)
	}
	result, err := admitted.Run(ctx, sink)
	refused := err != nil && stream == nil // whatever it has spent until then
	if !refused {
		describe(span, result)
	}
	span.End()
	ended(result, refused)
	switch {
	case result == nil:
		return wire.Refused(err)
	case refused:
		giveBack(result)
		return wire.Refused(err)
	}
	if large(result) { // which may take its reader long
		remove()
		defer giveBack(result)
	} else {
		giveBack(result)
	}
	s.metrics.ended(result)
	switch {
	case stream != nil || r.Context().Err() != nil: // the result was the last event, or nobody is there
	case result.Status == api.StatusSandboxError:
		err := failed(result)
		tell(trace.SpanFromContext(r.Context()), err)
		s.fail(w, r, err) // here, where who reads it slowly has its place still
	default:
		s.answer(w, http.StatusOK, "application/json", result)
		_ = http.NewResponseController(w).Flush() // else it would wait for what is left to do
	}
	return nil
}

// large tells whether an answer may wait for its reader, and what it was made of with it: a
// smaller one is taken by the connection at once.
func large(result *api.Result) bool {
	const most = 64 << 10
	size := 0
	for _, p := range result.Phases {
		size += len(p.Stdout) + len(p.Stderr)
	}
	return len(result.Files) > 0 || size > most
}

// removeBehind waits for the end of a run's container, which nobody else does. Its grant is
// given back before: nothing of it runs any more.
func (s *Server) removeBehind(admitted *executor.Admitted) {
	s.removals.Go(func() {
		defer s.removing.Add(-1)
		if err := admitted.Removed(); err != nil {
			s.Log.Warn("something of a sandbox was left behind; sandbox-run gc removes it", "id", admitted.ID(), "error", err)
		}
	})
}

// runContext is done when the caller has gone, and then nobody waits for the run,
// or when the server ends.
func (s *Server) runContext(r *http.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	gone := context.AfterFunc(r.Context(), func() {
		if !fault.Off("cancel", "runs without a caller") {
			cancel(sandbox.ErrAbandoned)
		}
	})
	ended := context.AfterFunc(s.runs, func() { cancel(context.Canceled) })
	return ctx, func() { gone(); ended(); cancel(nil) }
}

// ours has a failure that is none of the caller's told like that of a run, with what has
// failed: a database that is full, an address of this host that cannot be asked for.
func (s *Server) ours(err error, result func(error) *api.Result) error {
	if err == nil {
		return nil
	}
	if p, _ := problem(err); p.Type != typeUnknown || p.Status != http.StatusInternalServerError || errors.Is(err, context.Canceled) {
		return err
	}
	return failed(result(err))
}

// failed is the problem of a run that ended through our fault.
func failed(result *api.Result) error {
	p := &refusal{Problem: api.Problem{Type: wire.TypeSandbox, Status: http.StatusInternalServerError, Detail: result.Message, Result: result}}
	if result.Retryable != nil && *result.Retryable {
		p.Status, p.retryAfter = http.StatusServiceUnavailable, time.Second
	}
	return p
}

// refusal is a problem that may be tried again.
type refusal struct {
	api.Problem
	retryAfter time.Duration
}

// typeUnknown is the type of a problem that nothing more is known of.
const typeUnknown = "about:blank"

// problem is what an error is answered with.
func problem(err error) (*api.Problem, time.Duration) {
	var (
		plain    *api.Problem
		refused  *refusal
		full     *capacity.FullError
		tooLarge *capacity.TooLargeError
		limit    *auth.LimitError
	)
	switch {
	case errors.As(err, &refused):
		return &refused.Problem, refused.retryAfter
	case errors.As(err, &plain):
		copied := *plain
		return &copied, 0
	case errors.As(err, &full):
		return &api.Problem{Type: wire.TypeCapacity, Status: http.StatusTooManyRequests, Detail: full.Reason}, full.RetryAfter
	case errors.As(err, &tooLarge):
		return wire.Invalid(api.ProblemError{Pointer: "/limits/memory_mb", Detail: tooLarge.Error()}), 0
	case errors.As(err, &limit):
		return &api.Problem{Type: limitTypes[limit.Kind], Status: http.StatusTooManyRequests, Detail: limit.Detail}, limit.RetryAfter
	}
	return &api.Problem{Type: typeUnknown, Status: http.StatusInternalServerError, Detail: "the server failed; its log tells more under this request id"}, 0
}

// fail answers an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, retryAfter := problem(err)
	if r.Context().Err() != nil && p.Status >= http.StatusInternalServerError {
		return // it failed because nobody is there
	}
	if p.Status >= http.StatusInternalServerError {
		s.Log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r), "error", err.Error())
	}
	p.Title, p.RequestID = http.StatusText(p.Status), requestID(r)
	wire.Short(p)
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((retryAfter+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	s.answer(w, p.Status, "application/problem+json", p)
}
