package auth

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	oldKey = "the old key of the file"
	newOne = "the new key of the file"
)

func TestReload(t *testing.T) {
	dir, s := t.TempDir(), &memory{}
	path := writeFile(t, "- key: "+oldKey)
	a := mustOpen(t, Options{Store: s, Dir: dir, KeysFile: path})
	stored, _ := mustCreate(t, s, dir, NewKey{})
	check := func(when, key string, want Reason) {
		t.Helper()
		if got := reasonOf(t, a, bearer(key)); got != want {
			t.Errorf("%s: %s is %q, want %q", when, key, got, want)
		}
	}
	rewrite := func(text string) error {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return a.Reload(t.Context())
	}
	check("at first", oldKey, "")
	check("at first", stored, ReasonUnknown)
	for text, want := range map[string]string{
		"- key: " + newOne + "\n  tennant: x":     "keys.yaml: line 2: this is no field",
		"- key: " + newOne + "\n- key: " + newOne: "line 2 of the keys file: this key is given before",
		"": "the file is empty",
	} {
		if err := rewrite(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "the new key") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		check("after an error", oldKey, "")
		check("after an error", newOne, ReasonUnknown)
		check("after an error", stored, ReasonUnknown)
	}
	if err := rewrite("- key: " + newOne); err != nil {
		t.Fatal(err)
	}
	check("reloaded", oldKey, ReasonUnknown)
	check("reloaded", newOne, "")
	check("reloaded", stored, "")
}

func TestOpenErrors(t *testing.T) {
	for want, o := range map[string]Options{
		"the API key of the configuration: an API key needs at least 16": {Key: "short"},
		"no such file": {KeysFile: "/does/not/exist"},
		"line 1 of the keys file: this key is given before, there or in the configuration": {Key: oldKey, KeysFile: writeFile(t, "- key: "+oldKey)},
	} {
		o.Store, o.Dir = &memory{}, t.TempDir()
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What another process does to the keys is seen within a second, whatever has
// become of the file; a database that cannot be read leaves everything as it is.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, s := t.TempDir(), &memory{}
		path := writeFile(t, "- key: "+oldKey)
		a := mustOpen(t, Options{Store: s, Dir: dir, KeysFile: path})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go a.Watch(ctx)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		text, k := mustCreate(t, s, dir, NewKey{})
		second := func() {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		second()
		if got := reasonOf(t, a, bearer(text)) + reasonOf(t, a, bearer(oldKey)); got != "" {
			t.Errorf("a second after it was made: %s", got)
		}
		s.breakDown(true)
		second()
		if got := reasonOf(t, a, bearer(text)); got != "" {
			t.Errorf("while the database cannot be read: %s", got)
		}
		s.breakDown(false)
		if err := NewKeys(s, dir).Revoke(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
		second()
		if got := reasonOf(t, a, bearer(text)); got != ReasonRevoked {
			t.Errorf("a second after it was revoked: %q", got)
		}
	})
}

func TestWatchKeepsUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, s := t.TempDir(), &memory{}
		text, k := mustCreate(t, s, dir, NewKey{})
		unused, _ := mustCreate(t, s, dir, NewKey{})
		a := mustOpen(t, Options{Store: s, Dir: dir, Key: oldKey})
		ctx, cancel := context.WithCancel(t.Context())
		go a.Watch(ctx)
		for range 2 { // the first use is kept after a minute, the second at the end
			time.Sleep(130 * time.Second)
			_, _ = reasonOf(t, a, bearer(text)), reasonOf(t, a, bearer(oldKey))
			if reasonOf(t, a, bearer(unused[:40])) == "" {
				t.Fatal("half a key is accepted")
			}
			at := time.Now()
			if s.usedAt(k.ID).Equal(at) {
				t.Fatal("kept at once, with every request")
			}
			time.Sleep(90 * time.Second)
			synctest.Wait()
			if got := s.usedAt(k.ID); !got.Equal(at) {
				t.Fatalf("kept %v, want %v", got, at)
			}
		}
		_ = reasonOf(t, a, bearer(text))
		at := time.Now()
		cancel()
		synctest.Wait()
		if got := s.usedAt(k.ID); !got.Equal(at) || len(s.used) != 1 {
			t.Errorf("kept %v, want %v alone", s.used, at)
		}
	})
}
