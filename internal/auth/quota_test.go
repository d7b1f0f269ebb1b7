package auth

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

func TestRunsQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12 * time.Hour)
		a := meters(t, store.Figures{Runs: 3})
		l := store.KeyLimits{RunsPerDay: 5}
		mustAdmit(t, a, l)(0.1)
		for _, nothing := range []float64{0, -1, math.NaN()} {
			mustAdmit(t, a, l)(nothing)
		}
		mustAdmit(t, a, l) // under way, which counts
		mustRefuse(t, a, l, LimitError{LimitRuns, 12 * time.Hour,
			"this API key may start 5 runs a day, and has started 5 today: counting begins again at 00:00 UTC, in 12h0m0s"})
	})
}

func TestCPUQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(23*time.Hour + 30*time.Minute)
		a := meters(t, store.Figures{CPUSeconds: 9})
		l := store.KeyLimits{CPUSecondsPerDay: 10.5}
		one, other := mustAdmit(t, a, l), mustAdmit(t, a, l)
		one(2)
		refused := LimitError{LimitCPU, 30 * time.Minute,
			"this API key may use 10.5 CPU-seconds a day, and has used 11.0 today: counting begins again at 00:00 UTC, in 30m0s"}
		mustRefuse(t, a, l, refused)
		time.Sleep(30 * time.Minute)
		mustAdmit(t, a, l)
		other(1000) // yesterday's
		mustAdmit(t, a, l)
	})
}

// A run over midnight takes a place until it ends, and is nothing of the new
// day's quotas.
func TestMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meters(t, store.Figures{})
		l := store.KeyLimits{Concurrency: 2, RunsPerDay: 2, CPUSecondsPerDay: 1}
		old := mustAdmit(t, a, l)
		time.Sleep(24 * time.Hour)
		today := mustAdmit(t, a, l)
		if _, refused := admit(t, a, l); refused == nil || refused.Kind != LimitConcurrency {
			t.Error(refused)
		}
		old(100)
		today(0.5)
		mustAdmit(t, a, l)
		if _, refused := admit(t, a, l); refused == nil || refused.Kind != LimitRuns {
			t.Error(refused)
		}
	})
}

// A run that goes on after midnight, to more than it was admitted with, is one of the new day.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meters(t, store.Figures{})
		l := store.KeyLimits{RunsPerDay: 1, CPUSecondsPerDay: 3}
		run, err := a.Admit(Principal{KeyID: "k", Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		run.Spend(2)
		if err := run.Continue(l); err != nil {
			t.Error(err)
		}
		run.Spend(2)
		if err := run.Continue(l); err == nil {
			t.Error("it goes on with 4 of 3 CPU-seconds")
		}
		time.Sleep(24 * time.Hour)
		if err := run.Continue(l); err != nil {
			t.Errorf("the next day: %v", err)
		}
		if _, refused := admit(t, a, l); refused == nil || refused.Kind != LimitRuns {
			t.Errorf("beside it: %v", refused)
		}
		run.Release()
		run.Release()
		var nobodys *Run
		nobodys.Spend(1)
		nobodys.Release()
		if err := nobodys.Continue(l); err != nil {
			t.Error(err)
		}
	})
}

// What a key used today is asked from midnight UTC on, in whatever time zone.
func TestUsageIsAskedFromMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(50 * time.Hour)
		s := &memory{}
		mustOpen(t, Options{Store: s, Dir: t.TempDir()})
		if want := time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC); !s.since.Equal(want) {
			t.Errorf("since %v, want %v", s.since, want)
		}
	})
}
