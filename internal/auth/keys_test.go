package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

func TestCreateKeepsNoKey(t *testing.T) {
	dir, s := t.TempDir(), &memory{}
	text, k := mustCreate(t, s, dir, NewKey{Name: "ci", Limits: store.KeyLimits{Concurrency: 3}})
	if k.Tenant != DefaultTenant || k.Name != "ci" || k.Limits.Concurrency != 3 || k.Created.IsZero() || len(k.Hash) != 32 {
		t.Errorf("%+v", k)
	}
	printed, err := json.Marshal(s.keys)
	if err != nil {
		t.Fatal(err)
	}
	secret := text[strings.LastIndex(text, "_")+1:]
	for _, kept := range []string{fmt.Sprintf("%+v", s.keys), string(printed), string(k.Hash)} {
		if strings.Contains(kept, secret) {
			t.Errorf("%s has the key", kept)
		}
	}
	// The hash is keyed: with another pepper it is of no use.
	elsewhere := t.TempDir()
	mustCreate(t, &memory{}, elsewhere, NewKey{})
	for pepper, want := range map[string]Reason{dir: "", elsewhere: ReasonUnknown} {
		if got := reasonOf(t, mustOpen(t, Options{Store: s, Dir: pepper}), bearer(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCreateErrors(t *testing.T) {
	keys := NewKeys(&memory{}, t.TempDir())
	for want, n := range map[string]NewKey{
		"a tenant is named with":                {Tenant: "../etc"},
		"a tenant is named with 1 to 64":        {Tenant: strings.Repeat("a", 65)},
		"at most 100 characters":                {Name: strings.Repeat("é", 101)},
		"all of them printable":                 {Name: "a\x1b[2J"},
		"requests_per_minute must be more":      {Limits: store.KeyLimits{RequestsPerMinute: -1}},
		"cpu_seconds_per_day must be more than": {Limits: store.KeyLimits{CPUSecondsPerDay: math.NaN()}},
		"cpu_seconds_per_day must be":           {Limits: store.KeyLimits{CPUSecondsPerDay: math.Inf(1)}},
		"runs_per_day must be":                  {Limits: store.KeyLimits{RunsPerDay: math.MaxInt64}},
		"concurrency must be":                   {Limits: store.KeyLimits{Concurrency: -5}},
		"give both":                             {Limits: store.KeyLimits{Burst: 5}},
	} {
		if _, _, err := keys.Create(t.Context(), n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", n, err, want)
		}
	}
}

func TestRevoke(t *testing.T) {
	dir, s := t.TempDir(), &memory{}
	byID, k := mustCreate(t, s, dir, NewKey{})
	byKey, _ := mustCreate(t, s, dir, NewKey{})
	good, _ := mustCreate(t, s, dir, NewKey{})
	keys := NewKeys(s, dir)
	for _, id := range []string{k.ID, byKey} {
		if err := keys.Revoke(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"", "aaaaaaaa", byKey + "x"} {
		if err := keys.Revoke(t.Context(), id); !errors.Is(err, store.ErrNoKey) || strings.Contains(err.Error(), byKey) {
			t.Errorf("%q: %v", id, err)
		}
	}
	a := mustOpen(t, Options{Store: s, Dir: dir})
	for key, want := range map[string]Reason{byID: ReasonRevoked, byKey: ReasonRevoked, good: ""} {
		if got := reasonOf(t, a, bearer(key)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if list, err := keys.List(t.Context()); len(list) != 3 || err != nil || a.Size() != 1 {
		t.Errorf("%d keys, %d valid: %v", len(list), a.Size(), err)
	}
}
