package auth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// memory is a store without a disk, for tests in which time is made up.
type memory struct {
	mu       sync.Mutex
	keys     []store.Key
	revision int64
	used     map[string]time.Time
	usage    map[string]store.Figures
	since    time.Time
	broken   error
}

func (m *memory) Keys(context.Context) ([]store.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.keys), m.broken
}

func (m *memory) KeysRevision(context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision, m.broken
}

func (m *memory) TouchKeys(_ context.Context, used map[string]time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]time.Time{}
	}
	maps.Copy(m.used, used)
	return m.broken
}

func (m *memory) usedAt(id string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[id]
}

func (m *memory) KeyUsage(_ context.Context, since time.Time) (map[string]store.Figures, error) {
	m.since = since
	return m.usage, m.broken
}

func (m *memory) InsertKey(_ context.Context, k store.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys = append(m.keys, k)
	m.revision++
	return m.broken
}

func (m *memory) RevokeKey(_ context.Context, id string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.keys, func(k store.Key) bool { return k.ID == id })
	if i < 0 {
		return store.ErrNoKey
	}
	m.keys[i].Revoked = at
	m.revision++
	return nil
}

func (m *memory) breakDown(broken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = nil
	if broken {
		m.broken = errors.New("the disk is gone")
	}
}

func mustOpen(t *testing.T, o Options) *Authenticator {
	t.Helper()
	a, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustCreate(t *testing.T, s KeyStore, dir string, n NewKey) (text string, k store.Key) {
	t.Helper()
	text, k, err := NewKeys(s, dir).Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// reasonOf is why a key is not accepted; empty when it is.
func reasonOf(t *testing.T, a *Authenticator, h http.Header) Reason {
	t.Helper()
	_, err := a.Authenticate(h)
	if refused, ok := errors.AsType[*KeyError](err); ok {
		return refused.Reason
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

func writeFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
