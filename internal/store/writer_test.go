package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// A line that is refused takes none of its batch with it.
func TestRefusedLines(t *testing.T) {
	var log bytes.Buffer
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(time.Now())
	begin(t, s, r)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := s.BeginRun(context.Background(), r); !errors.Is(err, errRefused) {
				t.Errorf("the same id again: %v", err)
			}
		})
		group.Go(func() {
			if err := s.BeginRun(context.Background(), newRun(time.Now())); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	end(t, s, "nobody", ended("ok"))
	if n := len(mustRuns(t, s, RunFilter{Tenant: "acme"})); n != 51 {
		t.Errorf("%d lines, want 51", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "run=nobody") {
		t.Errorf("log: %s", log.String())
	}
}

func TestClosedStore(t *testing.T) {
	s := open(t, t.TempDir())
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.BeginRun(t.Context(), newRun(time.Now())); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := s.EndRun(t.Context(), "x", ended("ok")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// Close waits for the ends that nobody has waited for.
func TestCloseWritesWhatIsOnItsWay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var group sync.WaitGroup
	for range 500 {
		group.Go(func() {
			r := newRun(time.Now())
			begin(t, s, r)
			if err := s.EndRun(context.Background(), r.ID, ended("ok")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open(t, dir).MarkLost(t.Context()); n != 0 || err != nil {
		t.Errorf("%d lines were not completed: %v", n, err)
	}
}

// An end that nobody waits for is written by itself when nothing comes along, and one that does takes
// those with it that have come before.
func TestEndsWaitForCompany(t *testing.T) {
	s := open(t, t.TempDir())
	r := newRun(time.Now())
	begin(t, s, r)
	if err := s.EndRun(t.Context(), r.ID, ended("ok")); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for mustRuns(t, s, RunFilter{Tenant: "acme"})[0].End == nil {
		if time.Now().After(deadline) {
			t.Fatal("an end by itself is not written")
		}
	}
	w := &writer{lines: make(chan line, 3)}
	alone, awaited := line{run: "alone"}, line{run: "awaited", done: make(chan error, 1)}
	w.lines <- awaited
	w.lines <- alone
	if got := w.batch(alone); len(got) != 3 || got[1].run != "awaited" {
		t.Errorf("together are %v", got)
	}
	if got := w.batch(awaited); len(got) != 1 {
		t.Errorf("with one that somebody waits for are %v", got)
	}
}
