package auth

import (
	"context"
	"time"
)

const (
	// pollEvery bounds how long a key that another process has revoked is good.
	pollEvery = 500 * time.Millisecond
	// saveEvery is how exact the last use of a key is kept.
	saveEvery = time.Minute
)

// Watch follows what other processes change in the database, and keeps there
// when keys were used, until the context ends.
func (a *Authenticator) Watch(ctx context.Context) {
	poll, save := time.NewTicker(pollEvery), time.NewTicker(saveEvery)
	defer poll.Stop()
	defer save.Stop()
	failing := false
	for {
		select {
		case <-poll.C:
			err := a.follow(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				a.log.Error("changes of the API keys are not seen until the database can be read", "error", err)
			}
			failing = err != nil
		case <-save.C:
			a.saveUse(ctx)
		case <-ctx.Done():
			a.saveUse(context.WithoutCancel(ctx))
			return
		}
	}
}

// follow reads the keys of the database when they have changed. The operator's
// stay as they are until Reload.
func (a *Authenticator) follow(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	revision, err := a.store.KeysRevision(ctx)
	if err != nil || revision == a.revision {
		return err
	}
	return a.replace(ctx, a.policy.Load().chosen)
}

// saveUse keeps when keys were last used. What cannot be written is lost: it is
// not worth more.
func (a *Authenticator) saveUse(ctx context.Context) {
	a.mu.Lock()
	used := a.used
	a.used = map[string]time.Time{}
	a.mu.Unlock()
	if len(used) == 0 {
		return
	}
	if err := a.store.TouchKeys(ctx, used); err != nil {
		a.log.Warn("the last use of API keys was not kept", "error", err)
	}
}
