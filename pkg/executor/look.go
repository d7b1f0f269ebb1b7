package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// looks are the containers in which images are asked what they have. Requests have no
// place and no memory of anybody's ledger by then, so there are few at a time, and what
// an image has failed at is not tried again for a while.
type looks struct {
	places chan struct{}

	mu     sync.Mutex
	failed map[string]failedLook
}

// failedLook is what came of one: err is ours, missing the image's.
type failedLook struct {
	missing []language.Missing
	err     error
	until   time.Time
}

const (
	maxLooks       = 4
	failedLookTime = 30 * time.Second
	maxFailedLooks = 1000
)

func newLooks() *looks {
	return &looks{places: make(chan struct{}, maxLooks), failed: map[string]failedLook{}}
}

// lookKey names what is looked for, and where.
func lookKey(spec sandbox.Spec, img sandbox.Image) string {
	return fmt.Sprintf("%q %q %q", img, spec.Language, spec.Level)
}

// recall has what has failed a short time ago.
func (l *looks) recall(key string) (failedLook, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	failed, ok := l.failed[key]
	return failed, ok && time.Now().Before(failed.until)
}

// remember keeps a failure of the image's, or that it took too long. Whatever else has
// failed, such as an engine that is gone, may work a moment later.
func (l *looks) remember(key string, missing []language.Missing, err error) {
	if late := new(lateError); err != nil && !errors.As(err, &late) {
		return
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, failed := range l.failed {
		if len(l.failed) >= maxFailedLooks && now.After(failed.until) {
			delete(l.failed, other)
		}
	}
	if len(l.failed) < maxFailedLooks {
		l.failed[key] = failedLook{missing, err, now.Add(failedLookTime)}
	}
}

// errKnown ends a search whose outcome is known by now.
var errKnown = errors.New("somebody else has looked meanwhile")

// place is that of one search, which may open containers of several images.
type place struct {
	of    *looks
	taken bool
}

func (p *place) take(ctx context.Context) error {
	if p.taken {
		return nil
	}
	select {
	case p.of.places <- struct{}{}:
		p.taken = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *place) free() {
	if p.taken {
		<-p.of.places
		p.taken = false
	}
}
