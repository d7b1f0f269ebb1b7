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

	mu  sync.Mutex
	seq int64
	err error // the sink's first; nothing is sent after it
}

// emit sends one event. Without a sink it does nothing.
func (e *emitter) emit(event api.Event) error {
	if e.sink == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	e.seq++
	event.Seq = e.seq
	event.T = time.Since(e.start).Seconds()
	if e.err = e.sink(event); e.err != nil && e.cancel != nil {
		e.cancel()
	}
	return e.err
}
