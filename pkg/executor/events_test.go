package executor

import (
	"errors"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
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
