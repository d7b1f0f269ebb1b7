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
	shares map[string]*share // by tenant: none has all of the places
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
	return &looks{places: make(chan struct{}, maxLooks), shares: map[string]*share{}, failed: map[string]failedLook{}}
}

// share is a tenant's part of the places.
type share struct {
	places chan struct{}
	users  int // that have a place of it, or wait for one
}

// enter is the share of a tenant, until it is left.
func (l *looks) enter(tenant string) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s == nil {
		s = &share{places: make(chan struct{}, maxLooks-1)}
		l.shares[tenant] = s
	}
	s.users++
	return s
}

func (l *looks) leave(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shares[tenant]
	if s.users--; s.users == 0 {
		delete(l.shares, tenant)
	}
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
	of     *looks
	tenant string
	share  *share // nil until it is taken
}

func (p *place) take(ctx context.Context) error {
	if p.share != nil {
		return nil
	}
	share := p.of.enter(p.tenant)
	select {
	case share.places <- struct{}{}:
	case <-ctx.Done():
		p.of.leave(p.tenant)
		return ctx.Err()
	}
	select {
	case p.of.places <- struct{}{}:
		p.share = share
		return nil
	case <-ctx.Done():
		<-share.places
		p.of.leave(p.tenant)
		return ctx.Err()
	}
}

func (p *place) free() {
	if p.share != nil {
		<-p.of.places
		<-p.share.places
		p.of.leave(p.tenant)
		p.share = nil
	}
}
