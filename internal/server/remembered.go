package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// remembered is what takes a while to find out, and what whoever has no key asks for as often as
// he likes.
type remembered[T any] struct {
	finding singleflight.Group

	mu    sync.Mutex
	since time.Time // zero until it is known
	known T
	err   error
}

// get is the answer, found out anew when the last one is older than age. Who comes while that goes
// on waits for the same answer; a caller who goes away takes nobody's with him, and has the last
// one beside the error.
func (m *remembered[T]) get(ctx context.Context, age time.Duration, find func(context.Context) (T, error)) (T, error) {
	if known, err, fresh := m.last(age); fresh {
		return known, err
	}
	found := m.finding.DoChan("", func() (_ any, err error) {
		known, _, fresh := m.last(age)
		if fresh { // since a moment ago
			return nil, nil
		}
		defer func() {
			if cause := recover(); cause != nil { // no request's, whose would be answered
				err = fmt.Errorf("panic: %v", cause)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.known, m.err, m.since = known, err, time.Now()
		}()
		known, err = find(context.WithoutCancel(ctx))
		return nil, err
	})
	select {
	case <-found:
		known, err, _ := m.last(age)
		return known, err
	case <-ctx.Done():
		known, _, _ := m.last(age)
		return known, ctx.Err()
	}
}

// last is what was found last, and whether it is younger than age.
func (m *remembered[T]) last(age time.Duration) (known T, err error, fresh bool) { //nolint:revive // what get gives comes first
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.err, !m.since.IsZero() && time.Since(m.since) <= age
}
