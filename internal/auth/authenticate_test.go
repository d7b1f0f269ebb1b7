package auth

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

func TestAuthenticate(t *testing.T) {
	dir, s := t.TempDir(), &memory{}
	stored, k := mustCreate(t, s, dir, NewKey{Tenant: "acme", Name: "ci", Limits: store.KeyLimits{Concurrency: 3}})
	revoked, gone := mustCreate(t, s, dir, NewKey{})
	if err := NewKeys(s, dir).Revoke(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	_, unknown := generateKey()
	a := mustOpen(t, Options{Store: s, Dir: dir, Key: "the operator's own", KeysFile: writeFile(t, "- {key: sbx_chosen_by_hand, tenant: file, burst: 2, requests_per_minute: 3}")})
	for _, c := range []struct {
		name   string
		header http.Header
		tenant string
		reason Reason
	}{
		{"bearer", bearer(stored), "acme", ""},
		{"scheme in lower case", http.Header{"Authorization": {"bearer " + stored}}, "acme", ""},
		{"own header", http.Header{"X-Api-Key": {stored}}, "acme", ""},
		{"the same twice", http.Header{"X-Api-Key": {stored}, "Authorization": {"Bearer " + stored}}, "acme", ""},
		{"blanks around", http.Header{"X-Api-Key": {" " + stored + " "}}, "acme", ""},
		{"beside a proxy's", http.Header{"X-Api-Key": {stored}, "Authorization": {"Basic eDp5"}}, "acme", ""},
		{"of the configuration", bearer("the operator's own"), DefaultTenant, ""},
		{"of the file, like one of ours", bearer("sbx_chosen_by_hand"), "file", ""},
		{"none", http.Header{}, "", ReasonNone},
		{"empty", http.Header{"X-Api-Key": {""}, "Authorization": {"Bearer "}}, "", ReasonNone},
		{"only the scheme", http.Header{"Authorization": {"Bearer"}}, "", ReasonNone},
		{"another scheme", http.Header{"Authorization": {"Basic " + stored}}, "", ReasonNone},
		{"no scheme", http.Header{"Authorization": {stored}}, "", ReasonNone},
		{"two", http.Header{"X-Api-Key": {stored}, "Authorization": {"Bearer " + unknown}}, "", ReasonTwo},
		{"two of a kind", http.Header{"X-Api-Key": {stored, revoked}}, "", ReasonTwo},
		{"two, one of them empty", http.Header{"X-Api-Key": {"", stored}}, "acme", ""},
		{"unknown", bearer(unknown), "", ReasonUnknown},
		{"unknown, not ours", bearer("0123456789abcdef"), "", ReasonUnknown},
		{"known id, other secret", bearer(formatKey(k.ID, make([]byte, secretBytes))), "", ReasonUnknown},
		{"revoked", bearer(revoked), "", ReasonRevoked},
		{"cut off", bearer(stored[:50]), "", ReasonMistyped},
		{"the hash", bearer(string(k.Hash)), "", ReasonUnknown},
	} {
		p, err := a.Authenticate(c.header)
		refused, _ := errors.AsType[*KeyError](err)
		if (err == nil) != (c.reason == "") || refused != nil && refused.Reason != c.reason || p.Tenant != c.tenant {
			t.Errorf("%s: tenant %q, %v (%+v)", c.name, p.Tenant, err, refused)
		}
	}
	got, err := a.Authenticate(bearer(stored))
	if diff := cmp.Diff(Principal{KeyID: k.ID, Tenant: "acme", Name: "ci", Limits: k.Limits}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A caller must not learn that a key was once valid, and nobody reads a key in
// an error.
func TestKeyErrorsTellNothing(t *testing.T) {
	texts := map[string]bool{}
	for _, reason := range []Reason{ReasonNone, ReasonUnknown, ReasonRevoked} {
		texts[(&KeyError{Reason: reason, KeyID: "aaaaaaaa"}).Error()] = true
	}
	if len(texts) != 1 {
		t.Error(texts)
	}
	dir := t.TempDir()
	a := mustOpen(t, Options{Store: &memory{}, Dir: dir})
	_, err := a.Authenticate(bearer(secret))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// The id of a key without one outlives a restart, and tells nothing of the key.
func TestIDsOfChosenKeys(t *testing.T) {
	dir := t.TempDir()
	id := func(dir string) string {
		p, err := mustOpen(t, Options{Store: &memory{}, Dir: dir, Key: secret}).Authenticate(bearer(secret))
		if err != nil || p.KeyID == "" {
			t.Fatal(p, err)
		}
		return p.KeyID
	}
	if first := id(dir); id(dir) != first || id(t.TempDir()) == first {
		t.Error("the id should depend on key and pepper alone")
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	dir, s := b.TempDir(), &memory{}
	text, _, err := NewKeys(s, dir).Create(b.Context(), NewKey{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := Open(b.Context(), Options{Store: s, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := a.Authenticate(bearer(text))
		if err != nil {
			b.Fatal(err)
		}
		run, err := a.Admit(p)
		if err != nil {
			b.Fatal(err)
		}
		run.Spend(1)
		run.Release()
	}
}
