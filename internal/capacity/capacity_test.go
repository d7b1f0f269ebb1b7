package capacity_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
)

const mib = 1 << 20

func must(t *testing.T, l *capacity.Ledger, tenant string, memory int64) *capacity.Grant {
	t.Helper()
	g, err := l.Acquire(t.Context(), capacity.Demand{Tenant: tenant, MemoryBytes: memory})
	if err != nil {
		t.Fatalf("%s: %v", tenant, err)
	}
	return g
}

func mustNot(t *testing.T, l *capacity.Ledger, tenant string, memory int64) {
	t.Helper()
	var full *capacity.FullError
	if _, err := l.Acquire(t.Context(), capacity.Demand{Tenant: tenant, MemoryBytes: memory}); !errors.As(err, &full) {
		t.Fatalf("%s: %v", tenant, err)
	}
	if full.RetryAfter < time.Second {
		t.Errorf("retry after %v", full.RetryAfter)
	}
}

// A grant grows by what is free, or stays as it is; what has passed another takes nothing from it.
func TestGrow(t *testing.T) {
	l := capacity.New(capacity.Limits{Runs: 4, MemoryBytes: 100 * mib, Queue: 2})
	grown := func(g *capacity.Grant, memory int64, want any) {
		t.Helper()
		before := l.Load()
		switch err := g.Grow(memory); {
		case want == nil && err != nil, want != nil && !errors.As(err, want):
			t.Errorf("%d MiB: %v", memory/mib, err)
		case err != nil && l.Load() != before:
			t.Errorf("%d MiB: %+v was %+v", memory/mib, l.Load(), before)
		}
	}
	a := must(t, l, "a", 10*mib)
	grown(a, 101*mib, new(*capacity.TooLargeError))
	grown(a, 100*mib, nil)
	grown(a, 50*mib, nil) // it has them
	if got := l.Load(); got != (capacity.Load{Running: 1, MemoryBytes: 100 * mib}) {
		t.Errorf("load %+v", got)
	}
	a.Release()
	a, b := must(t, l, "a", 40*mib), must(t, l, "b", 30*mib)
	grown(b, 61*mib, new(*capacity.FullError))
	grown(b, 60*mib, new(*capacity.FullError)) // the last eighth is the other's
	grown(b, 40*mib, nil)
	waiting := make(chan *capacity.Grant, 1)
	go func() { waiting <- must(t, l, "c", 30*mib) }()
	for l.Load().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	passes := must(t, l, "b", 5*mib)
	grown(passes, 6*mib, new(*capacity.FullError))
	a.Release()
	c := <-waiting
	grown(passes, 6*mib, nil)
	for _, g := range []*capacity.Grant{b, c, passes} {
		g.Release()
	}
	if got := l.Load(); got != (capacity.Load{}) {
		t.Errorf("load %+v", got)
	}
}

func TestPlacesAndMemory(t *testing.T) {
	l := capacity.New(capacity.Limits{Runs: 2, MemoryBytes: 100 * mib})
	a := must(t, l, "", 60*mib)
	mustNot(t, l, "", 41*mib)
	b := must(t, l, "", 40*mib)
	mustNot(t, l, "", mib)
	if err := l.Look(""); err == nil {
		t.Error("Look found a place")
	}
	if got := l.Load(); got != (capacity.Load{Running: 2, MemoryBytes: 100 * mib}) {
		t.Errorf("load %+v", got)
	}
	a.Release()
	a.Release() // once is enough
	if err := l.Look(""); err != nil {
		t.Error(err)
	}
	b.Release()
	if got := l.Load(); got != (capacity.Load{}) {
		t.Errorf("load %+v", got)
	}
	var tooLarge *capacity.TooLargeError
	if _, err := l.Acquire(t.Context(), capacity.Demand{MemoryBytes: 101 * mib}); !errors.As(err, &tooLarge) {
		t.Errorf("101 MiB of 100: %v", err)
	}
}

// A flood of one tenant leaves places, and memory, to others.
func TestFloodLeavesPlaces(t *testing.T) {
	l := capacity.New(capacity.Limits{Runs: 16, MemoryBytes: 1600 * mib})
	must(t, l, "quiet", mib).Release() // is about
	for range 14 {
		must(t, l, "flood", mib)
	}
	mustNot(t, l, "flood", mib)
	must(t, l, "quiet", mib)
	must(t, l, "other", mib)

	l = capacity.New(capacity.Limits{Runs: 16, MemoryBytes: 1600 * mib})
	must(t, l, "quiet", mib).Release()
	must(t, l, "flood", 800*mib)
	must(t, l, "flood", 600*mib)
	mustNot(t, l, "flood", 100*mib)
	must(t, l, "quiet", 200*mib)
}

func TestOneTenantMayHaveAll(t *testing.T) {
	l := capacity.New(capacity.Limits{Runs: 4, MemoryBytes: 4 * mib})
	for range 4 {
		must(t, l, "only", mib)
	}
	mustNot(t, l, "only", 1)
}

// Tenants take turns in the queue, whoever came first.
func TestQueueTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := capacity.New(capacity.Limits{Runs: 1, MemoryBytes: mib, Queue: 10})
		first := must(t, l, "a", 1)
		var mu sync.Mutex
		var order string
		var wg sync.WaitGroup
		for _, tenant := range []string{"a", "a", "a", "b", "b", "c"} {
			wg.Go(func() {
				g, err := l.Acquire(t.Context(), capacity.Demand{Tenant: tenant, MemoryBytes: 1})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order += tenant
				mu.Unlock()
				time.Sleep(time.Second)
				if g.Waited <= 0 {
					t.Errorf("%s waited %v", tenant, g.Waited)
				}
				g.Release()
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		first.Release()
		wg.Wait()
		if order != "abcaba" {
			t.Errorf("order %s", order)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := capacity.New(capacity.Limits{Runs: 1, MemoryBytes: mib, Queue: 1})
		first := must(t, l, "a", 1)
		ctx, cancel := context.WithCancel(t.Context())
		var gone atomic.Bool
		go func() {
			_, err := l.Acquire(ctx, capacity.Demand{Tenant: "a", MemoryBytes: 1})
			gone.Store(errors.Is(err, context.Canceled))
		}()
		synctest.Wait()
		mustNot(t, l, "a", 1)
		mustNot(t, l, "b", 1)
		cancel() // who has gone leaves the queue
		synctest.Wait()
		if !gone.Load() || l.Load().Waiting != 0 {
			t.Errorf("%+v after the waiting one has gone", l.Load())
		}
		first.Release()
		must(t, l, "a", 1)
	})
}

// A large run keeps its turn: small ones do not pass it by for ever.
func TestLargeRunStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := capacity.New(capacity.Limits{Runs: 4, MemoryBytes: 100, Queue: 10})
		small := must(t, l, "a", 60)
		var started atomic.Bool
		go func() {
			g, err := l.Acquire(t.Context(), capacity.Demand{Tenant: "a", MemoryBytes: 100})
			if err != nil {
				t.Error(err)
				return
			}
			started.Store(true)
			g.Release()
		}()
		synctest.Wait()
		go func() {
			g, err := l.Acquire(t.Context(), capacity.Demand{Tenant: "a", MemoryBytes: 10})
			if err != nil || !started.Load() {
				t.Errorf("the small one came first: %v", err)
				return
			}
			g.Release()
		}()
		synctest.Wait()
		small.Release()
		synctest.Wait()
		if got := l.Load(); !started.Load() || got != (capacity.Load{}) {
			t.Errorf("%+v", got)
		}
	})
}

// queue asks in the background and tells whether it was granted; release gives the
// grant back, when it comes.
func queue(t *testing.T, l *capacity.Ledger, tenant string, memory int64) (granted func() bool, release func()) {
	t.Helper()
	var has atomic.Bool
	done := make(chan struct{})
	go func() {
		g, err := l.Acquire(t.Context(), capacity.Demand{Tenant: tenant, MemoryBytes: memory})
		if err != nil {
			t.Errorf("%s: %v", tenant, err)
			return
		}
		has.Store(true)
		<-done
		g.Release()
	}()
	synctest.Wait()
	return has.Load, func() { close(done); synctest.Wait() }
}

// One who asks for nearly all of the memory has its turn, and until then others use
// what will be left beside it.
func TestHugeRunHoldsUpNobody(t *testing.T) {
	for _, size := range []int{10, 2} { // the second is full with what waits
		synctest.Test(t, func(t *testing.T) {
			l := capacity.New(capacity.Limits{Runs: 8, MemoryBytes: 800, Queue: size})
			before := must(t, l, "quiet", 300)
			huge, end := queue(t, l, "huge", 700)
			defer end()
			first := must(t, l, "quiet", 100)
			second, endSecond := queue(t, l, "quiet", 60)
			if huge() || second() {
				t.Errorf("huge %v, second %v: there is not room for all", huge(), second())
			}
			first.Release()
			synctest.Wait()
			if !second() {
				t.Error("the huge one holds up what fits beside it")
			}
			before.Release()
			synctest.Wait()
			if !huge() {
				t.Error("the huge one does not start although there is room")
			}
			endSecond()
		})
	}
}

// One who asks for more than seven eighths while others run waits until nobody
// does, and takes no turn from anybody.
func TestRunOfTheWholeMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := capacity.New(capacity.Limits{Runs: 8, MemoryBytes: 800, Queue: 10})
		before := must(t, l, "quiet", 100)
		all, end := queue(t, l, "huge", 800)
		more := must(t, l, "quiet", 600)
		before.Release()
		synctest.Wait()
		if all() {
			t.Error("it started beside another")
		}
		more.Release()
		synctest.Wait()
		if !all() {
			t.Error("it does not start although nobody runs")
		}
		end()
	})
}

// However many small runs of others come and go, a run of up to seven eighths of the
// memory starts when those have ended that were there before it, and once for each
// tenant that had its turn first.
func TestHugeRunIsNotStarved(t *testing.T) {
	const memory, longest = 800, 5 * time.Second
	tenants := []string{"a", "a", "b", "b", "c", "c"}
	rapid.Check(t, func(rt *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Int64Range(memory/16, memory/2), len(tenants), len(tenants)).Draw(rt, "bytes")
		last := rapid.SliceOfN(rapid.Int64Range(1, 10), len(tenants), len(tenants)).Draw(rt, "halves of a second")
		huge := rapid.Int64Range(memory/2, memory/8*7).Draw(rt, "huge")
		comes := time.Duration(rapid.IntRange(0, 10_000).Draw(rt, "comes")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			l := capacity.New(capacity.Limits{Runs: 40, MemoryBytes: memory, Queue: 20})
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for i, tenant := range tenants {
				wg.Go(func() {
					for range 1000 { // an end, should the huge one have none
						g, err := l.Acquire(ctx, capacity.Demand{Tenant: tenant, MemoryBytes: bytes[i]})
						if err != nil {
							return
						}
						time.Sleep(time.Duration(last[i]) * longest / 10)
						g.Release()
					}
				})
			}
			time.Sleep(comes)
			g := must(t, l, "huge", huge)
			if g.Waited > 4*longest {
				t.Errorf("%d of %d bytes waited for %v; others have %d bytes for %d", huge, memory, g.Waited, bytes, last)
			}
			g.Release()
			stop()
			wg.Wait()
		})
	})
}

// A flood fills the queue for itself alone.
func TestFloodLeavesRoomInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := capacity.New(capacity.Limits{Runs: 1, MemoryBytes: mib, Queue: 8})
		must(t, l, "quiet", 1).Release() // is about
		running := must(t, l, "flood", 1)
		for range 7 {
			_, end := queue(t, l, "flood", 1)
			defer end()
		}
		mustNot(t, l, "flood", 1)
		if err := l.Look("flood"); err == nil {
			t.Error("Look found room for the flood")
		}
		if err := l.Look("quiet"); err != nil {
			t.Error(err)
		}
		_, end := queue(t, l, "quiet", 1)
		defer end()
		running.Release()
	})
}

// Whatever happens in whatever order, grants stay within the limits and nothing
// is lost.
func TestLedgerHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := capacity.Limits{
			Runs:        rapid.IntRange(1, 6).Draw(t, "runs"),
			MemoryBytes: rapid.Int64Range(10, 60).Draw(t, "memory"),
			Queue:       rapid.IntRange(0, 3).Draw(t, "queue"),
		}
		l := capacity.New(limits)
		var running, used atomic.Int64
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 40).Draw(t, "asks") {
			d := capacity.Demand{
				Tenant:      rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tenant"),
				MemoryBytes: rapid.Int64Range(1, 30).Draw(t, "bytes"),
			}
			leaves := rapid.IntRange(0, 4).Draw(t, "leaves") == 0
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				if leaves {
					cancel()
				}
				g, err := l.Acquire(ctx, d)
				if err != nil {
					return
				}
				if n := running.Add(1); n > int64(limits.Runs) {
					t.Errorf("%d run", n)
				}
				if n := used.Add(d.MemoryBytes); n > limits.MemoryBytes {
					t.Errorf("%d bytes", n)
				}
				time.Sleep(10 * time.Microsecond)
				running.Add(-1)
				used.Add(-d.MemoryBytes)
				g.Release()
			})
		}
		wg.Wait()
		if got := l.Load(); got != (capacity.Load{}) {
			t.Fatalf("left: %+v", got)
		}
	})
}

func BenchmarkAcquire(b *testing.B) {
	l := capacity.New(capacity.Limits{Runs: 1 << 20, MemoryBytes: 1 << 40})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g, err := l.Acquire(context.Background(), capacity.Demand{Tenant: "a", MemoryBytes: 1})
			if err != nil {
				b.Fatal(err)
			}
			g.Release()
		}
	})
}
