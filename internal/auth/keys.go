package auth

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// KeyStore keeps keys, as [store.Store] does.
type KeyStore interface {
	InsertKey(ctx context.Context, k store.Key) error
	Keys(ctx context.Context) ([]store.Key, error)
	RevokeKey(ctx context.Context, id string, at time.Time) error
}

// Keys makes, lists and revokes the keys of the database. A server that runs
// beside it follows within a second.
type Keys struct {
	store KeyStore
	dir   string
}

// NewKeys administers the keys of a store whose data directory is dir.
func NewKeys(s KeyStore, dir string) *Keys { return &Keys{store: s, dir: dir} }

// NewKey says what a key is made for.
type NewKey struct {
	Tenant string // empty is DefaultTenant
	Name   string // for people; may be empty
	Limits store.KeyLimits
	// Scopes are what the key may do beside running programs.
	Scopes []string
}

// Create makes a key. Its text is returned here and never again: what is kept
// is a hash.
func (k *Keys) Create(ctx context.Context, n NewKey) (text string, made store.Key, err error) {
	n.Tenant = cmp.Or(n.Tenant, DefaultTenant)
	if err := errors.Join(checkTenant(n.Tenant), checkName(n.Name), checkLimits(n.Limits), checkScopes(n.Scopes)); err != nil {
		return "", store.Key{}, err
	}
	others, err := k.store.Keys(ctx)
	if err != nil {
		return "", store.Key{}, err
	}
	p, err := loadPepper(k.dir, anyValid(others))
	if err != nil {
		return "", store.Key{}, err
	}
	id, text := generateKey()
	made = store.Key{
		ID: id, Tenant: n.Tenant, Name: n.Name, Limits: n.Limits, Scopes: n.Scopes,
		Hash: p.hash(sumOf(text)), Created: time.Now().UTC().Truncate(time.Millisecond),
	}
	if err := k.store.InsertKey(ctx, made); err != nil {
		return "", store.Key{}, err
	}
	return text, made, nil
}

// List returns all keys, the revoked too, oldest first.
func (k *Keys) List(ctx context.Context) ([]store.Key, error) { return k.store.Keys(ctx) }

// Revoke makes a key invalid for ever. It takes the id; who has only the key
// itself may give that. It returns [store.ErrNoKey] when there is none.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	if inKey, err := keyID(id); err == nil {
		id = inKey
	}
	return k.store.RevokeKey(ctx, id, time.Now())
}

func anyValid(keys []store.Key) bool {
	return slices.ContainsFunc(keys, func(k store.Key) bool { return k.Revoked.IsZero() })
}
