package auth

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// admit returns what ends a run that has used something, or what is refused.
func admit(t *testing.T, a *Authenticator, l store.KeyLimits) (func(float64), *LimitError) {
	t.Helper()
	run, err := a.Admit(Principal{KeyID: "k", Limits: l})
	refused, _ := errors.AsType[*LimitError](err)
	if (run == nil) == (err == nil) || err != nil && refused == nil {
		t.Fatalf("the run is there: %v, error: %v", run != nil, err)
	}
	return func(cpuSeconds float64) { run.Spend(cpuSeconds); run.Release() }, refused
}

func mustAdmit(t *testing.T, a *Authenticator, l store.KeyLimits) func(float64) {
	t.Helper()
	release, refused := admit(t, a, l)
	if refused != nil {
		t.Fatal(refused)
	}
	return release
}

func mustRefuse(t *testing.T, a *Authenticator, l store.KeyLimits, want LimitError) {
	t.Helper()
	_, refused := admit(t, a, l)
	if diff := cmp.Diff(&want, refused); diff != "" {
		t.Error(diff)
	}
}

// meters is an authenticator of one key that has used something today already.
func meters(t *testing.T, used store.Figures) *Authenticator {
	t.Helper()
	return mustOpen(t, Options{Store: &memory{usage: map[string]store.Figures{"k": used}}, Dir: t.TempDir()})
}

// In a bubble of synctest, time begins at midnight UTC, 2000-01-01.

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meters(t, store.Figures{})
		l := store.KeyLimits{RequestsPerMinute: 30, Burst: 3}
		for range 3 {
			mustAdmit(t, a, l)(1)
		}
		refused := LimitError{LimitRate, 2 * time.Second, "this API key may make 30 requests a minute and 3 at once, which it has: the next one is free in 2s"}
		for range 2 { // being refused does not push the next one back
			mustRefuse(t, a, l, refused)
		}
		time.Sleep(2 * time.Second)
		mustAdmit(t, a, l)(1)
		mustRefuse(t, a, l, refused)
		// The burst is the whole minute when it is not given; nothing is given on
		// top when limits change.
		time.Sleep(time.Hour)
		l.Burst = 0
		for range 3 {
			mustAdmit(t, a, l)(1)
		}
		if _, refused := admit(t, a, l); refused == nil {
			t.Error("a change of the limits has filled the bucket")
		}
		time.Sleep(time.Hour)
		for range 30 {
			mustAdmit(t, a, l)(1)
		}
		mustRefuse(t, a, l, LimitError{LimitRate, 2 * time.Second, "this API key may make 30 requests a minute and 30 at once, which it has: the next one is free in 2s"})
	})
}

func TestConcurrency(t *testing.T) {
	a := meters(t, store.Figures{})
	l := store.KeyLimits{Concurrency: 2}
	first := mustAdmit(t, a, l)
	mustAdmit(t, a, l)
	refused := LimitError{LimitConcurrency, time.Second, "this API key may have 2 runs at a time, and 2 are under way: wait until one ends"}
	mustRefuse(t, a, l, refused)
	first(1)
	first(1) // harmless
	mustAdmit(t, a, l)
	mustRefuse(t, a, l, refused)
	// Another key is another matter.
	if _, err := a.Admit(Principal{KeyID: "other", Limits: l}); err != nil {
		t.Error(err)
	}
}

func TestNoLimits(t *testing.T) {
	a := meters(t, store.Figures{Runs: 1 << 40, CPUSeconds: 1e12})
	for range 1000 {
		mustAdmit(t, a, store.KeyLimits{})
	}
	if _, err := a.Admit(Principal{}); err != nil {
		t.Error(err)
	}
}
