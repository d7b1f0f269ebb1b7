package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	// containerIdle is how long a container may do nothing: it holds a place. A
	// connection without one has createWithin.
	containerIdle = 10 * time.Minute
	createWithin  = 30 * time.Second
	// runPrograms are those of a run that may take as long as one may: to look what there is, to
	// install, to compile, to run.
	runPrograms = 4
	// maxPrograms is how many a container may start: a run has a few, and a key's quota of runs
	// counts containers.
	maxPrograms = 100
	// maxBrought is how much may be written to a container's files, which are memory that is
	// granted to nobody: the sources that a request may bring, a page for each of its 10,000
	// names, and what languages add.
	maxBrought = 120 << 20
	// keepAgain is when a cache may be sent again that had no room.
	keepAgain = 5 * time.Second
)

var (
	errShuttingDown = errors.New("the server is shutting down")
	errIdle         = fmt.Errorf("the container did nothing for %v", containerIdle)
	errNoContainer  = errors.New("a connection begins with one container, and has no other")
	errManyPrograms = fmt.Errorf("a container is for %d programs, one after the other", maxPrograms)
	errTooMuch      = fmt.Errorf("the files that came from the other side have more than %d MiB together: %w", maxBrought>>20, syscall.EFBIG)
	errPanic        = errors.New("the server failed; its log tells more")
	errNotTaken     = errors.New("nobody takes what a program has written that is dead")
)

// hosted is a container of another server's.
type hosted struct {
	s       *Server
	r       *http.Request
	who     auth.Principal
	charged *auth.Run
	ctx     context.Context //nolint:containedctx // of the connection
	hangUp  context.CancelCauseFunc
	began   time.Time
	idle    *time.Timer
	brought atomic.Int64 // bytes of files from the other side

	asked    atomic.Bool // for the container
	arrived  func()      // called then
	starting sync.Mutex  // one start at a time
	started  int         // programs

	mu        sync.Mutex
	busy      int // calls that go on
	container sandbox.Container
	release   []func() // when the container is gone
	grant     *capacity.Grant
	running   sandbox.Running
	call      uint32 // that running belongs to
	audit     string // the id of its line
	last      sandbox.Exit

	cpuSeconds float64
}

// serve answers one call. The callers of the near side are told of this host what those
// of this server are.
func (h *hosted) serve(call *tunnel.Call) (answer tunnel.Answer) {
	defer func() {
		if cause := recover(); cause != nil { // no other connection's
			h.s.Log.Error("a call of another server made this one panic", "request_id", requestID(h.r), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			h.hangUp(errPanic)
			answer = tunnel.Failed(errPanic)
		}
	}()
	answer = h.answer(call)
	if answer.Error != nil {
		answer.Error.Rewrite(h.s.Executor.Told)
	}
	return answer
}

func (h *hosted) answer(call *tunnel.Call) tunnel.Answer {
	h.begin()
	defer h.done()
	r, err := call.Request()
	if err != nil {
		return tunnel.Failed(fmt.Errorf("this server does not understand the request; is it of another version? %w", err))
	}
	if r.Op == tunnel.OpCreate {
		return h.create(call, r)
	}
	h.mu.Lock()
	c := h.container
	h.mu.Unlock()
	if c == nil {
		h.hangUp(errNoContainer)
		return tunnel.Failed(errNoContainer)
	}
	switch r.Op {
	case tunnel.OpStart:
		return h.start(call, c, r)
	case tunnel.OpDelete:
		return tunnel.Failed(c.Delete(h.ctx))
	case tunnel.OpSignal, tunnel.OpKill, tunnel.OpMetrics, tunnel.OpResize:
		return h.control(r)
	}
	return h.files(call, c, r)
}

// begin and done count calls: a container without any is idle.
func (h *hosted) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy++
	h.idle.Stop()
}

func (h *hosted) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy--; h.busy > 0 {
		return
	}
	if h.container == nil {
		h.idle.Reset(createWithin)
		return
	}
	h.idle.Reset(containerIdle)
}

// create makes the container. Nothing else waits beside it with what it brings, which is memory of
// nobody's grant.
func (h *hosted) create(call *tunnel.Call, r tunnel.Request) tunnel.Answer {
	if h.asked.Swap(true) || r.Spec == nil {
		h.hangUp(errNoContainer)
		return tunnel.Failed(errNoContainer)
	}
	h.arrived()
	if err := h.s.drained(); err != nil {
		return tunnel.Failed(&tunnel.Elsewhere{Reason: err.Error()})
	}
	ctx := call.Context()
	root, err := h.s.planned(ctx, r.Spec.Spec(), r.Spec.Digest)
	if err != nil {
		return tunnel.Failed(err)
	}
	spec, err := h.specify(r.Spec, root)
	if err != nil {
		return tunnel.Failed(err)
	}
	if _, err := h.s.limit(sandbox.Limits{MemoryBytes: spec.MemoryBytes}); err != nil {
		return tunnel.Failed(err)
	}
	spec.MemoryBytes = cmp.Or(spec.MemoryBytes, h.s.usualMemory(spec))
	if err := h.admit(ctx, spec.MemoryBytes); err != nil {
		return tunnel.Failed(err)
	}
	if err := h.record(ctx, root, spec); err != nil {
		return tunnel.Failed(err)
	}
	c, err := h.s.Runtime.Create(ctx, spec)
	if err != nil {
		return tunnel.Failed(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.container = c
	h.s.metrics.containers.Inc()
	return tunnel.Answer{Created: &tunnel.Created{ID: c.ID(), Isolation: c.Isolation()}}
}

// admit takes what the container may use from what there is. It waits for its place; later it
// has more at once, or what it has.
func (h *hosted) admit(ctx context.Context, memory int64) (err error) {
	if h.grant == nil {
		h.grant, err = h.s.place(ctx, capacity.Demand{Tenant: h.who.Tenant, MemoryBytes: memory})
	} else {
		err = h.grant.Grow(memory)
	}
	var full *capacity.FullError
	var tooLarge *capacity.TooLargeError
	var draining *refusal
	switch {
	case errors.As(err, &draining):
		return &tunnel.Elsewhere{Reason: draining.Error()}
	case errors.As(err, &full):
		return &tunnel.Elsewhere{Reason: full.Reason}
	case errors.As(err, &tooLarge):
		return &sandbox.UnsupportedError{What: "so much memory", Reason: tooLarge.Error()}
	case err != nil:
		return err
	}
	return nil
}

// containerStatus is the status of the audit line of a container that has ended.
const containerStatus = "container"

// record writes the audit line: what a container ran is not known when it begins.
func (h *hosted) record(ctx context.Context, root root, spec sandbox.Spec) error {
	if h.s.Store == nil {
		return nil
	}
	limits, err := json.Marshal(map[string]int64{"memory_bytes": spec.MemoryBytes, "disk_bytes": spec.Disk.Bytes, "build_bytes": spec.BuildDisk.Bytes})
	if err != nil {
		return err
	}
	id := executor.NewID(h.began)
	err = h.s.Store.BeginRun(ctx, store.Run{
		ID: id, Started: h.began, Tenant: h.who.Tenant, KeyID: h.who.KeyID, RequestID: requestID(h.r),
		Language: root.language, Version: root.version, Limits: limits, Node: h.s.Containers.Node,
	})
	if err == nil {
		h.audit = id
	}
	return err
}

// end removes all that there is, when the connection is over.
func (h *hosted) end(session *tunnel.Session) {
	h.hangUp(session.Err())
	h.remove() // what still goes on ends with it
	session.Close()
	h.remove() // what was made meanwhile
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle.Stop()
	for _, release := range h.release {
		release()
	}
	if h.grant != nil {
		h.grant.Release()
	}
	h.s.Log.Info("container ended", "request_id", requestID(h.r), "cause", context.Cause(h.ctx).Error(), "cpu_seconds", h.cpuSeconds)
	if h.audit == "" {
		return
	}
	wall := time.Since(h.began).Seconds()
	if err := h.s.Store.EndRun(context.WithoutCancel(h.ctx), h.audit, store.RunEnd{
		Finished: time.Now(), Status: containerStatus, ExitCode: h.last.Code, CPUSeconds: &h.cpuSeconds, WallSeconds: &wall,
		MemoryPeakBytes: h.last.Metrics.MemoryPeakBytes,
	}); err != nil {
		h.s.Log.Error("an audit line could not be completed", "run", h.audit, "error", err.Error())
	}
}

func (h *hosted) remove() {
	h.mu.Lock()
	c := h.container
	h.mu.Unlock()
	if c == nil {
		return
	}
	if err := c.Delete(context.WithoutCancel(h.ctx)); err != nil {
		h.s.Log.Error("something of a container was left behind; sandbox-run gc removes it", "error", err.Error())
	}
}
