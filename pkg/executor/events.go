package executor

import (
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// emitter numbers the events of a run and hands them to the sink one at a time.
type emitter struct {
	sink   Sink
	start  time.Time
	cancel func() // ends the run when the sink fails; may be nil

	mu    sync.Mutex
	seq   int64
	err   error     // the sink's first; nothing is sent after it
	last  time.Time // when something was sent
	ended bool      // the result was sent, which is the last
}

// emit sends one event. Without a sink it does nothing.
func (e *emitter) emit(event api.Event) error {
	if e.sink == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil || e.ended {
		return e.err
	}
	e.seq++
	e.last = time.Now()
	e.ended = event.Type == api.EventResult
	event.Seq = e.seq
	event.T = time.Since(e.start).Seconds()
	if e.err = e.sink(event); e.err != nil && e.cancel != nil {
		e.cancel()
	}
	return e.err
}

// refuse ends the events before the first one; it is false when there was one already.
func (e *emitter) refuse() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = e.ended || e.seq == 0
	return e.seq == 0
}

// heartbeats sends one whenever nothing else was sent for an interval, so that
// nobody between us and the caller takes the stream for dead, until stop is
// called. An interval of zero sends none.
func (e *emitter) heartbeats(interval time.Duration) (stop func()) {
	if e.sink == nil || interval <= 0 {
		return func() {}
	}
	ticker, done := time.NewTicker(interval), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			e.mu.Lock()
			idle := time.Since(e.last) >= interval
			e.mu.Unlock()
			if idle {
				_ = e.emit(api.Event{Type: api.EventHeartbeat})
			}
		}
	}()
	return func() { close(done) }
}
