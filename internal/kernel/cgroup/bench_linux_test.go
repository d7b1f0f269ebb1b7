package cgroup

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// The group of one run, with every limit. Idle machines do some of this more
// slowly than busy ones, which a tight loop hides: hence both.
func BenchmarkCreateDelete(b *testing.B) {
	h := live(b)
	for _, idle := range []time.Duration{0, 60 * time.Millisecond} {
		b.Run(fmt.Sprintf("idle=%v", idle), func(b *testing.B) {
			var create, remove time.Duration
			b.ReportAllocs()
			for range b.N {
				time.Sleep(idle)
				start := time.Now()
				g, err := h.Create("bench", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 64})
				if err != nil {
					b.Fatal(err)
				}
				created := time.Now()
				if err := g.Delete(); err != nil {
					b.Fatal(err)
				}
				create += created.Sub(start)
				remove += time.Since(created)
			}
			b.ReportMetric(float64(create.Microseconds())/float64(b.N), "µs/create")
			b.ReportMetric(float64(remove.Microseconds())/float64(b.N), "µs/delete")
		})
	}
}

// The group of one run below a share: one that others are in, and one that is made
// and removed with the run.
func BenchmarkShare(b *testing.B) {
	h := live(b)
	for _, c := range []struct{ name, share string }{{"none", ""}, {"used", "share"}, {"first", "share"}} {
		b.Run(c.name, func(b *testing.B) {
			if c.name == "used" {
				stays := scope(b, h, "stays", c.share)
				defer stays.Delete()
			}
			b.ReportAllocs()
			for range b.N {
				s := scope(b, h, "bench", c.share)
				g, err := s.Create("bench-1", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 64})
				if err != nil {
					b.Fatal(err)
				}
				if err := errors.Join(g.Delete(), s.Delete()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of the process of BenchmarkRun with no group around it.
func BenchmarkBareRun(b *testing.B) {
	for range b.N {
		if err := again("exit").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// The same around a process, so that there is something to remove.
func BenchmarkRun(b *testing.B) {
	h := live(b)
	for range b.N {
		g, err := h.Create("bench", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 64})
		if err != nil {
			b.Fatal(err)
		}
		cmd := again("exit")
		startIn(b, g, cmd)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		if _, err := g.Stats(); err != nil {
			b.Fatal(err)
		}
		if err := g.Delete(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	live(b) // makes the directories
	for range b.N {
		h, err := Detect(Options{Parent: fmt.Sprintf("sandbox-run-test-%d", os.Getpid())})
		if err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
}

func BenchmarkStats(b *testing.B) {
	h := live(b)
	g := create(b, h, "bench", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 64})
	b.ReportAllocs()
	for range b.N {
		if _, err := g.Stats(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNotifyOOM(b *testing.B) {
	h := live(b)
	g := create(b, h, "bench", Limits{MemoryBytes: 64 * mib})
	for range b.N {
		stop, err := g.NotifyOOM(func() {})
		if err != nil {
			b.Fatal(err)
		}
		stop()
	}
}
