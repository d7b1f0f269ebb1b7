package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/store"
)

// openStore opens what outlives the process, and the keys.
func (d *Daemon) openStore(ctx context.Context) (err error) {
	if d.store, err = store.Open(ctx, store.Options{Dir: d.cfg.DataDir, Log: d.log}); err != nil {
		return err
	}
	d.watching.Go(func() { d.prune(d.watched) })
	if d.cfg.Server.Insecure {
		d.log.Warn("everybody who reaches this server may run programs here, without a key (SANDBOX_INSECURE)")
		return nil
	}
	return d.openKeys(ctx)
}

// markLost ends the lines of runs that an earlier life has not ended. Who cannot listen may be
// beside one that lives.
func (d *Daemon) markLost(ctx context.Context) error {
	lost, err := d.store.MarkLost(ctx)
	if lost > 0 {
		d.log.Warn("runs of an earlier life were lost", "runs", lost)
	}
	return err
}

// openKeys opens the keys. A server that others can reach never stands open: where
// nobody has made a key, makeKey does.
func (d *Daemon) openKeys(ctx context.Context) error {
	c := d.cfg.Server
	keys, err := auth.Open(ctx, auth.Options{Store: d.store, Dir: d.cfg.DataDir, Key: c.APIKey, KeysFile: c.APIKeysFile, Log: d.log})
	if _, mistaken := errors.AsType[*auth.ConfigError](err); mistaken {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	if !keys.Wanted() && loopback(c.Addr) {
		d.log.Info("there are no keys: everybody on this machine may run programs here, and nobody else")
		return nil
	}
	if keys.Wanted() && keys.Size() == 0 {
		d.log.Warn("no key is valid, and so nobody may run programs here: sandbox-server keys create TENANT makes one")
	}
	d.keys = keys
	d.watching.Go(func() { keys.Watch(d.watched) })
	return nil
}

// makeKey makes the first key of a server that others can reach, where there is none.
func (d *Daemon) makeKey(ctx context.Context) (err error) {
	if d.keys == nil || d.keys.Wanted() {
		return nil
	}
	if d.FirstKey, _, err = auth.NewKeys(d.store, d.cfg.DataDir).Create(ctx, auth.NewKey{Tenant: auth.DefaultTenant, Name: "first"}); err != nil {
		return fmt.Errorf("cannot make a first key: %w", err)
	}
	return d.keys.Reload(ctx)
}

// Reload reads the keys anew. A file with an error changes nothing.
func (d *Daemon) Reload() {
	if d.keys == nil {
		return
	}
	if err := d.keys.Reload(context.Background()); err != nil {
		d.log.Error("the keys stay as they are", "error", err.Error())
		return
	}
	d.log.Info("read the keys anew", "keys", d.keys.Size())
}

// pruneEvery is how often old audit lines are looked for.
const pruneEvery = time.Hour

// prune removes audit lines that are older than the operator keeps them.
func (d *Daemon) prune(ctx context.Context) {
	for {
		before := time.Now().AddDate(0, 0, -int(d.cfg.Server.AuditDays))
		if _, err := d.store.Prune(ctx, before); err != nil && ctx.Err() == nil {
			d.log.Error("old audit lines could not be removed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pruneEvery):
		}
	}
}
