package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustRuns(t *testing.T, s *Store, f RunFilter) []Run {
	t.Helper()
	runs, err := s.Runs(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func begin(t testing.TB, s *Store, r Run) {
	t.Helper()
	if err := s.BeginRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// end completes a line and waits for it: the writer keeps the order, so a line
// behind it is written no sooner.
func end(t testing.TB, s *Store, id string, e RunEnd) {
	t.Helper()
	if err := s.EndRun(t.Context(), id, e); err != nil {
		t.Fatal(err)
	}
	begin(t, s, barrier())
}

func TestRunsKeepEveryField(t *testing.T) {
	s := open(t, t.TempDir())
	now := time.Now()
	full, unknown, open := newRun(now), newRun(now.Add(time.Second)), newRun(now.Add(2*time.Second))
	full.End, unknown.End = new(ended("ok")), &RunEnd{Finished: ended("ok").Finished, Status: "sandbox_error", ExitCode: -1}
	for _, r := range []Run{full, unknown, open} {
		begin(t, s, r)
	}
	end(t, s, full.ID, *full.End)
	end(t, s, unknown.ID, *unknown.End)
	if diff := cmp.Diff([]Run{open, unknown, full}, mustRuns(t, s, RunFilter{Tenant: "acme"})); diff != "" {
		t.Error(diff)
	}
}

func TestRunFilter(t *testing.T) {
	s := open(t, t.TempDir())
	now := time.Now()
	for i, tenant := range []string{"a", "b", "a"} {
		r := newRun(now.Add(time.Duration(i) * time.Hour))
		r.ID, r.Tenant = string(rune('1'+i)), tenant
		begin(t, s, r)
	}
	for _, c := range []struct {
		filter RunFilter
		want   string
	}{
		{RunFilter{}, "321"},
		{RunFilter{Tenant: "a"}, "31"},
		{RunFilter{Tenant: "' OR 1=1 --"}, ""},
		{RunFilter{Limit: 2}, "32"},
		{RunFilter{Since: now.Add(time.Hour)}, "32"},
	} {
		var got string
		for _, r := range mustRuns(t, s, c.filter) {
			got += r.ID
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
}

func TestMarkLost(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	done, lost, late := newRun(time.Now()), newRun(time.Now()), newRun(time.Now())
	for _, r := range []Run{done, lost, late} {
		begin(t, s, r)
	}
	if err := s.EndRun(t.Context(), done.ID, ended("ok")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	for _, want := range []int64{2, 0} {
		if n, err := s.MarkLost(t.Context()); n != want || err != nil {
			t.Errorf("%d lines were open, want %d: %v", n, want, err)
		}
	}
	// Another server, which is draining, still ends its run.
	end(t, s, late.ID, ended("timeout"))
	got := map[string]string{}
	for _, r := range mustRuns(t, s, RunFilter{Tenant: "acme"}) {
		got[r.ID] = r.End.Status
		if r.End.Finished.IsZero() {
			t.Errorf("%s has no end", r.ID)
		}
	}
	if diff := cmp.Diff(map[string]string{done.ID: "ok", lost.ID: StatusLost, late.ID: "timeout"}, got); diff != "" {
		t.Error(diff)
	}
}
