package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// ErrNoKey says that no key has the id.
var ErrNoKey = errors.New("there is no such key")

// Key is an API key as it is kept. The key itself is not, and cannot be told
// from the hash.
type Key struct {
	ID     string    `json:"id"`
	Tenant string    `json:"tenant"`
	Name   string    `json:"name"`
	Hash   []byte    `json:"-"`
	Limits KeyLimits `json:"limits"`
	// Scopes are what the key may do beside running programs.
	Scopes []string `json:"scopes,omitempty"`

	Created time.Time `json:"created"`
	// Revoked and LastUsed are zero for never.
	Revoked  time.Time `json:"revoked,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`
}

// KeyLimits are what a key may use. Zero is no such limit.
type KeyLimits struct {
	RequestsPerMinute int64   `json:"requests_per_minute,omitempty"`
	Burst             int64   `json:"burst,omitempty"` // at once; zero is RequestsPerMinute
	Concurrency       int64   `json:"concurrency,omitempty"`
	CPUSecondsPerDay  float64 `json:"cpu_seconds_per_day,omitempty"`
	RunsPerDay        int64   `json:"runs_per_day,omitempty"`
}

// InsertKey adds a key. Its id must be new.
func (s *Store) InsertKey(ctx context.Context, k Key) error {
	_, err := s.db.ExecContext(ctx, `
		INSERT INTO keys (id, tenant, name, hash, created, revoked, last_used,
			requests_per_minute, burst, concurrency, cpu_seconds_per_day, runs_per_day, scopes)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.Tenant, k.Name, k.Hash, millis(k.Created), millis(k.Revoked), millis(k.LastUsed),
		k.Limits.RequestsPerMinute, k.Limits.Burst, k.Limits.Concurrency, k.Limits.CPUSecondsPerDay, k.Limits.RunsPerDay,
		strings.Join(k.Scopes, " "))
	return err
}

// Keys lists all keys, the revoked too, oldest first.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	return list(ctx, s.db, scanKey, `
		SELECT id, tenant, name, hash, created, revoked, last_used,
			requests_per_minute, burst, concurrency, cpu_seconds_per_day, runs_per_day, scopes
		FROM keys ORDER BY created, id`)
}

func scanKey(rows *sql.Rows) (Key, error) {
	var k Key
	var created, revoked, lastUsed int64
	var scopes string
	err := rows.Scan(&k.ID, &k.Tenant, &k.Name, &k.Hash, &created, &revoked, &lastUsed,
		&k.Limits.RequestsPerMinute, &k.Limits.Burst, &k.Limits.Concurrency, &k.Limits.CPUSecondsPerDay, &k.Limits.RunsPerDay, &scopes)
	if scopes != "" {
		k.Scopes = strings.Fields(scopes)
	}
	k.Created, k.Revoked, k.LastUsed = fromMillis(created), fromMillis(revoked), fromMillis(lastUsed)
	return k, err
}

// KeysRevision changes with every change of a key, by any process, but not with
// its use. Read it before the keys, and no change is missed.
func (s *Store) KeysRevision(ctx context.Context) (number int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT number FROM keys_revision").Scan(&number)
	return number, err
}

// RevokeKey makes a key invalid for ever. A key that is revoked already keeps
// its time. It returns [ErrNoKey] when there is none.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	done, err := s.db.ExecContext(ctx,
		"UPDATE keys SET revoked = CASE revoked WHEN 0 THEN ? ELSE revoked END WHERE id = ?", millis(at), id)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNoKey
}

// TouchKeys records when keys were last used, by id.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	return inTransaction(ctx, s.db, func(tx *sql.Tx) error {
		for id, at := range used {
			// Of two servers the later use counts.
			if _, err := tx.ExecContext(ctx, "UPDATE keys SET last_used = max(last_used, ?) WHERE id = ?", millis(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}
