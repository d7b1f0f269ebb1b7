package auth

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// helperEnv makes the test binary another process that works on the same data
// directory: "create DIR" or "revoke DIR ID".
const helperEnv = "AUTH_TEST_HELPER"

func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(helperEnv)); len(words) > 0 {
		if err := help(context.Background(), words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func help(ctx context.Context, words []string) error {
	s, err := store.Open(ctx, store.Options{Dir: words[1]})
	if err != nil {
		return err
	}
	defer s.Close()
	keys := NewKeys(s, words[1])
	if words[0] == "revoke" {
		return keys.Revoke(ctx, words[2])
	}
	text, k, err := keys.Create(ctx, NewKey{Tenant: "acme"})
	fmt.Println(k.ID, text)
	return err
}

func otherProcess(t *testing.T, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+strings.Join(words, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func mustOpenStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A server that runs follows the keys that commands beside it make and revoke.
func TestOtherProcess(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStore(t, dir)
	a := mustOpen(t, Options{Store: s, Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.Watch(ctx)
	}()
	var id, text string
	if _, err := fmt.Sscan(otherProcess(t, "create", dir), &id, &text); err != nil {
		t.Fatal(err)
	}
	until(t, a, text, "")
	otherProcess(t, "revoke", dir, id)
	until(t, a, text, ReasonRevoked)
	cancel()
	<-watched
	if keys, err := s.Keys(t.Context()); err != nil || len(keys) != 1 || keys[0].LastUsed.IsZero() {
		t.Errorf("%+v, %v", keys, err)
	}
}

// until waits for what becomes of a key, as long as the test may.
func until(t *testing.T, a *Authenticator, key string, want Reason) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for reasonOf(t, a, bearer(key)) != want {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the key is still %q, want %q", reasonOf(t, a, bearer(key)), want)
		}
	}
}

// A restart gives nobody a new quota.
func TestQuotaOutlivesRestart(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenStore(t, dir)
	_, k := mustCreate(t, s, dir, NewKey{Limits: store.KeyLimits{RunsPerDay: 2, CPUSecondsPerDay: 5}})
	for i, cpu := range []float64{2, 4} {
		at := time.Now()
		run := store.Run{ID: fmt.Sprint(i), Started: at, KeyID: k.ID, Tenant: k.Tenant}
		if err := s.BeginRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if err := s.EndRun(t.Context(), run.ID, store.RunEnd{Finished: at, Status: "ok", CPUSeconds: &cpu}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a := mustOpen(t, Options{Store: mustOpenStore(t, dir), Dir: dir})
	for want, l := range map[LimitKind]store.KeyLimits{LimitRuns: {RunsPerDay: 2}, LimitCPU: {CPUSecondsPerDay: 6}, "": {RunsPerDay: 3, CPUSecondsPerDay: 7}} {
		_, err := a.Admit(Principal{KeyID: k.ID, Limits: l})
		if got, _ := err.(*LimitError); want == "" && err != nil || want != "" && (got == nil || got.Kind != want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}
