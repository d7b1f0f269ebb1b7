package executor

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestEventsAreNumberedWithoutGaps(t *testing.T) {
	var events []api.Event // no lock: the emitter calls one at a time
	e := emitter{sink: collectEvents(&events)}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if err := e.emit(api.Event{Type: api.EventStdout}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i, event := range events {
		if event.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i, event.Seq)
		}
	}
	if len(events) != 800 {
		t.Errorf("%d events", len(events))
	}
}

func TestNothingIsSentAfterAFailure(t *testing.T) {
	gone := errors.New("gone")
	calls, cancelled := 0, 0
	e := emitter{sink: func(api.Event) error { calls++; return gone }, cancel: func() { cancelled++ }}
	for range 3 {
		if err := e.emit(api.Event{}); !errors.Is(err, gone) {
			t.Errorf("error %v", err)
		}
	}
	if calls != 1 || cancelled != 1 {
		t.Errorf("the sink was called %d times, the run cancelled %d times", calls, cancelled)
	}
}

func TestNoSinkNoEvents(t *testing.T) {
	var e emitter
	if err := e.emit(api.Event{}); err != nil || e.seq != 0 {
		t.Errorf("%v, number %d", err, e.seq)
	}
}

// What is refused after a heartbeat, or a start, has a result for its last event, and one
// that nothing was sent of never sends anything.
func TestRefusedAfterEvents(t *testing.T) {
	for name, wait := range map[string]time.Duration{"before": 0, "after": 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var events []api.Event
			rt := &fakeRuntime{createErr: &sandbox.UnsupportedError{What: "isolation full", Reason: "x"}, onCreate: func() { time.Sleep(wait) }}
			e := newFakeExecutor(rt)
			e.cfg.Heartbeat = time.Second
			result, err := e.Run(t.Context(), echo(), collectEvents(&events))
			time.Sleep(time.Minute)
			var input *InputError
			if !errors.As(err, &input) || input.Kind != InputUnsupported {
				t.Fatalf("%s: %v", name, err)
			}
			if wait == 0 {
				if result != nil || len(events) > 0 {
					t.Errorf("%s: %+v, %d events", name, result, len(events))
				}
				return
			}
			last := events[len(events)-1]
			if len(events) < 2 || last.Type != api.EventResult || last.Result != result || result.Status != api.StatusSandboxError || result.Message != input.Detail || *result.Retryable {
				t.Errorf("%s: %+v, %+v", name, result, events)
			}
			for i, event := range events[:len(events)-1] {
				if event.Type != api.EventHeartbeat || event.Seq != int64(i+1) {
					t.Errorf("%s: %+v", name, event)
				}
			}
		})
	}
}
