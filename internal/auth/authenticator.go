package auth

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// Store is what an authenticator reads and writes, as [store.Store] does.
type Store interface {
	Keys(ctx context.Context) ([]store.Key, error)
	KeysRevision(ctx context.Context) (int64, error)
	TouchKeys(ctx context.Context, used map[string]time.Time) error
	KeyUsage(ctx context.Context, since time.Time) (map[string]store.Figures, error)
}

// Options say where keys come from.
type Options struct {
	Store Store
	// Dir is the data directory of the store.
	Dir string
	// Key is one key of the operator's own choosing; empty is none.
	Key string
	// KeysFile is the path of a file of keys; empty is none.
	KeysFile string
	// Log is told of what nobody waits for; nil is nobody.
	Log *slog.Logger
}

// Authenticator knows all keys. It is safe for concurrent use.
type Authenticator struct {
	store      Store
	pepper     pepper
	configured []fileKey // at most one
	keysFile   string
	log        *slog.Logger

	policy atomic.Pointer[policy]

	reloading sync.Mutex // one reload at a time; it guards revision
	revision  int64      // of the keys of the database that are in policy

	mu     sync.Mutex // guards the maps; never held together with reloading
	used   map[string]time.Time
	meters map[string]*meter
}

// ConfigError is a mistake in what the operator has written: the key of the configuration, or
// the file of keys. What else fails may pass.
type ConfigError struct{ Err error }

// Error implements error.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// Open reads all keys, and what each has used today. A [ConfigError] is the operator's to mend.
func Open(ctx context.Context, o Options) (*Authenticator, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stored, err := o.Store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API keys: %w", err)
	}
	configured, err := configuredKey(o.Key)
	if err != nil {
		return nil, &ConfigError{err}
	}
	a := &Authenticator{
		store: o.Store, configured: configured, keysFile: o.KeysFile, log: o.Log,
		used: map[string]time.Time{}, meters: map[string]*meter{},
	}
	if a.pepper, err = loadPepper(o.Dir, anyValid(stored)); err != nil {
		return nil, err
	}
	if err := a.Reload(ctx); err != nil {
		return nil, err
	}
	now := time.Now()
	usage, err := a.store.KeyUsage(ctx, startOf(dayOf(now)))
	if err != nil {
		return nil, fmt.Errorf("read what the API keys have used today: %w", err)
	}
	for id, u := range usage {
		a.meters[id] = &meter{day: dayOf(now), runs: u.Runs, cpuSeconds: u.CPUSeconds}
	}
	return a, nil
}

// Reload reads the file and the database again. On an error everything stays as
// it was.
func (a *Authenticator) Reload(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	var file []fileKey
	if a.keysFile != "" {
		var err error
		if file, err = readKeysFile(a.keysFile); err != nil {
			return &ConfigError{fmt.Errorf("read the API keys: %w", err)}
		}
	}
	chosen, err := chosenEntries(a.pepper, slices.Concat(a.configured, file))
	if err != nil {
		return &ConfigError{err}
	}
	return a.replace(ctx, chosen)
}

// replace reads the keys of the database and puts a policy of them and the
// operator's in force. The caller holds reloading.
func (a *Authenticator) replace(ctx context.Context, chosen []*entry) error {
	revision, err := a.store.KeysRevision(ctx) // first: a change meanwhile is read again
	if err != nil {
		return fmt.Errorf("read the API keys: %w", err)
	}
	stored, err := a.store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("read the API keys: %w", err)
	}
	a.policy.Store(newPolicy(stored, chosen))
	a.revision = revision
	return nil
}

// Size counts the keys that are valid now.
func (a *Authenticator) Size() int { return a.policy.Load().size() }

// Wanted tells whether anybody has ever made a key, though all be revoked since, or named a
// file of them: who has does not want to let everybody in.
func (a *Authenticator) Wanted() bool {
	p := a.policy.Load()
	return len(p.chosen) > 0 || len(p.stored) > 0 || a.keysFile != ""
}
