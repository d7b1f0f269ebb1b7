package store

import (
	"testing"
	"time"
)

// BenchmarkBeginRun is what a run waits for when nobody else writes.
func BenchmarkBeginRun(b *testing.B) {
	s := open(b, b.TempDir())
	for b.Loop() {
		if err := s.BeginRun(b.Context(), newRun(time.Now())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun is a whole line, begin and end, of many runs at once: what a line
// costs under load.
func BenchmarkRun(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := newRun(time.Now())
			if err := s.BeginRun(b.Context(), r); err != nil {
				b.Fatal(err)
			}
			if err := s.EndRun(b.Context(), r.ID, ended("ok")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRunUnbatched is the same with a transaction for each statement, for
// comparison: what the writer is for.
func BenchmarkRunUnbatched(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, e := newRun(time.Now()), ended("ok")
			if _, err := s.writer.begin.ExecContext(b.Context(), beginArgs(r)...); err != nil {
				b.Fatal(err)
			}
			if _, err := s.writer.end.ExecContext(b.Context(), endArgs(r.ID, e)...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkUsage reports over a hundred thousand lines.
func BenchmarkUsage(b *testing.B) {
	s := open(b, b.TempDir())
	insertMany(b, s, 100_000)
	for b.Loop() {
		if _, err := s.Usage(b.Context(), UsageFilter{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeysRevision is what each server asks twice a second.
func BenchmarkKeysRevision(b *testing.B) {
	s := open(b, b.TempDir())
	for b.Loop() {
		if _, err := s.KeysRevision(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
