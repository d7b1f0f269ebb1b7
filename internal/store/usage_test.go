package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// insertMany writes lines that have ended, over the last ten days.
func insertMany(t testing.TB, s *Store, n int) {
	t.Helper()
	if err := inTransaction(t.Context(), s.db, func(tx *sql.Tx) error {
		for i := range n {
			r := newRun(time.Now().Add(-time.Duration(i%10) * day))
			if _, err := tx.Exec("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'ok', 0, 0.5, 1.5, 1)", beginArgs(r)...); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func mustUsage(t *testing.T, s *Store, f UsageFilter) []Usage {
	t.Helper()
	report, err := s.Usage(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tell writes a run, ended unless the status is running.
func tell(t *testing.T, s *Store, tenant string, at time.Time, status string, cpu, wall *float64) {
	t.Helper()
	r := newRun(at)
	r.Tenant, r.KeyID = tenant, tenant+"-key"
	begin(t, s, r)
	if status != statusRunning {
		if err := s.EndRun(t.Context(), r.ID, RunEnd{Finished: at, Status: status, CPUSeconds: cpu, WallSeconds: wall}); err != nil {
			t.Fatal(err)
		}
	}
	begin(t, s, barrier())
}

// barrier is a line behind which every earlier one is written. No report here
// covers its day.
func barrier() Run {
	r := newRun(time.Time{})
	r.Tenant = "barrier"
	return r
}

func TestUsage(t *testing.T) {
	s := open(t, t.TempDir())
	tell(t, s, "a", noon, "ok", new(1.0), new(2.0))
	tell(t, s, "a", noon.Add(11*time.Hour), "ok", new(0.5), new(1.0))
	tell(t, s, "a", noon.Add(time.Hour), "timeout", nil, new(30.0))
	tell(t, s, "a", noon.Add(12*time.Hour), statusRunning, nil, nil) // midnight: the next day
	tell(t, s, "b", noon, "ok", new(4.0), nil)
	a1 := Usage{Day: "2026-03-01", Tenant: "a", Figures: Figures{3, 1.5, 33}, ByStatus: map[string]Figures{"ok": {2, 1.5, 3}, "timeout": {1, 0, 30}}}
	b1 := Usage{Day: "2026-03-01", Tenant: "b", Figures: Figures{1, 4, 0}, ByStatus: map[string]Figures{"ok": {1, 4, 0}}}
	a2 := Usage{Day: "2026-03-02", Tenant: "a", Figures: Figures{1, 0, 0}, ByStatus: map[string]Figures{"running": {1, 0, 0}}}
	for _, pruned := range []bool{false, true} {
		if pruned {
			if n, err := s.Prune(t.Context(), noon.Add(48*time.Hour)); n != 4 || err != nil {
				t.Fatalf("%d lines were pruned, want 4: %v", n, err)
			}
		}
		for _, c := range []struct {
			filter UsageFilter
			want   []Usage
		}{
			{UsageFilter{Since: noon.Add(6 * time.Hour)}, []Usage{a1, b1, a2}},
			{UsageFilter{Since: noon.Add(12 * time.Hour)}, []Usage{a2}},
			{UsageFilter{Since: noon, Tenant: "b"}, []Usage{b1}},
			{UsageFilter{Tenant: "b"}, []Usage{b1}},
			{UsageFilter{Tenant: "c"}, nil},
		} {
			if diff := cmp.Diff(c.want, mustUsage(t, s, c.filter)); diff != "" {
				t.Errorf("pruned %v, %+v: %s", pruned, c.filter, diff)
			}
		}
	}
}

// What is pruned in many batches, and beside lines of the same day that stay,
// adds up to the same usage.
func TestPruneKeepsUsage(t *testing.T) {
	s := open(t, t.TempDir())
	insertMany(t, s, 3*pruneBatch+7)
	before := mustUsage(t, s, UsageFilter{})
	cut := time.Now().Add(-3 * day)
	removed, err := s.Prune(t.Context(), cut)
	if err != nil || removed <= pruneBatch {
		t.Fatalf("%d lines were pruned: %v", removed, err)
	}
	if diff := cmp.Diff(before, mustUsage(t, s, UsageFilter{})); diff != "" {
		t.Error(diff)
	}
	left := mustRuns(t, s, RunFilter{})
	if got := int64(len(left)); got != 3*pruneBatch+7-removed || left[got-1].Started.Before(cut.Truncate(time.Millisecond)) {
		t.Errorf("%d lines are left, the oldest of %v", got, left[got-1].Started)
	}
}

// Whatever is asked, the lines stay from which today's quotas are counted, and
// those of runs that have not ended.
func TestPruneKeepsToday(t *testing.T) {
	s := open(t, t.TempDir())
	tell(t, s, "a", time.Now(), "ok", new(1.0), nil)
	tell(t, s, "a", noon, statusRunning, nil, nil)
	tell(t, s, "a", noon, "ok", nil, nil)
	if n, err := s.Prune(t.Context(), time.Now().Add(day)); n != 1 || err != nil {
		t.Errorf("%d lines were pruned, want 1: %v", n, err)
	}
}

func TestKeyUsage(t *testing.T) {
	s := open(t, t.TempDir())
	tell(t, s, "a", noon, "ok", new(1.5), new(2.0))
	tell(t, s, "a", noon, "ok", nil, new(3.0))              // CPU time unknown
	tell(t, s, "a", noon, "cancelled", new(0.0), new(9.0))  // never began
	tell(t, s, "a", noon, StatusLost, nil, nil)             // counts, with no figures
	tell(t, s, "b", noon, statusRunning, nil, nil)          // counts already
	tell(t, s, "b", noon.Add(-time.Minute), "ok", nil, nil) // before
	got, err := s.KeyUsage(t.Context(), noon)
	want := map[string]Figures{"a-key": {3, 4.5, 5}, "b-key": {1, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
