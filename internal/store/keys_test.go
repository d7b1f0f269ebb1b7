package store

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newKey(id string) Key {
	return Key{
		ID: id, Tenant: "acme", Name: "ci", Hash: []byte{0, 1, 2}, Created: time.UnixMilli(1_700_000_000_000).UTC(),
		Limits: KeyLimits{RequestsPerMinute: 60, Burst: 10, Concurrency: 4, CPUSecondsPerDay: 0.5, RunsPerDay: 1000},
	}
}

func mustKeys(t *testing.T, s *Store) []Key {
	t.Helper()
	keys, err := s.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestKeysKeepEveryField(t *testing.T) {
	s := open(t, t.TempDir())
	used := newKey("k2")
	used.Created, used.LastUsed, used.Revoked = used.Created.Add(time.Second), used.Created.Add(2*time.Second), used.Created.Add(3*time.Second)
	for _, k := range []Key{used, newKey("k1")} {
		if err := s.InsertKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]Key{newKey("k1"), used}, mustKeys(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := s.InsertKey(t.Context(), newKey("k1")); err == nil {
		t.Error("an id came twice")
	}
}

func TestRevokeKey(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.InsertKey(t.Context(), newKey("k1")); err != nil {
		t.Fatal(err)
	}
	first := time.UnixMilli(1_800_000_000_000).UTC()
	for _, at := range []time.Time{first, first.Add(time.Hour)} {
		if err := s.RevokeKey(t.Context(), "k1", at); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustKeys(t, s)[0].Revoked; !got.Equal(first) {
		t.Errorf("revoked at %v, want %v", got, first)
	}
	if err := s.RevokeKey(t.Context(), "k2", first); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
}

func TestTouchKeys(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.InsertKey(t.Context(), newKey("k1")); err != nil {
		t.Fatal(err)
	}
	later := time.UnixMilli(1_800_000_000_000).UTC()
	for _, at := range []time.Time{later, later.Add(-time.Hour)} {
		if err := s.TouchKeys(t.Context(), map[string]time.Time{"k1": at, "gone": at}); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustKeys(t, s)[0].LastUsed; !got.Equal(later) {
		t.Errorf("last used at %v, want %v", got, later)
	}
}

// The revision tells another handle of every change that matters to it, also of
// one that was made by hand, and of no other.
func TestKeysRevision(t *testing.T) {
	dir := t.TempDir()
	writer, reader := open(t, dir), open(t, dir)
	revision := func() int64 {
		n, err := reader.KeysRevision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		name    string
		do      func() error
		changes bool
	}{
		{"insert", func() error { return writer.InsertKey(t.Context(), newKey("k1")) }, true},
		{"use", func() error { return writer.TouchKeys(t.Context(), map[string]time.Time{"k1": time.Now()}) }, false},
		{"run", func() error { return writer.BeginRun(t.Context(), newRun(time.Now())) }, false},
		{"edit", func() error { _, err := writer.db.Exec("UPDATE keys SET concurrency = 9"); return err }, true},
		{"revoke", func() error { return writer.RevokeKey(t.Context(), "k1", time.Now()) }, true},
		{"delete", func() error { _, err := writer.db.Exec("DELETE FROM keys"); return err }, true},
	} {
		before := revision()
		if err := c.do(); err != nil {
			t.Fatal(c.name, err)
		}
		if changed := revision() != before; changed != c.changes {
			t.Errorf("%s changes the revision: %v, want %v", c.name, changed, c.changes)
		}
	}
}

// What is printed of a key has no hash, and no limit that is none.
func TestKeyJSON(t *testing.T) {
	k := newKey("k1")
	k.Limits = KeyLimits{Concurrency: 2}
	got, err := json.Marshal(k)
	const want = `{"id":"k1","tenant":"acme","name":"ci","limits":{"concurrency":2},"created":"2023-11-14T22:13:20Z"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
