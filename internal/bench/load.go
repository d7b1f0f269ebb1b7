package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Load is what came of a contender that worked for some time.
type Load struct {
	Series
	// Elapsed is how long it took until the last one was done.
	Elapsed time.Duration
}

// Rate is how many were done each second.
func (l Load) Rate() float64 {
	if l.Elapsed <= 0 {
		return 0
	}
	return float64(len(l.Series)) / l.Elapsed.Seconds()
}

// Join is what two loads of the same contender are together.
func (l Load) Join(other Load) Load {
	return Load{append(l.Series, other.Series...), l.Elapsed + other.Elapsed}
}

// unique are the numbers of [Contender.Do] under load; no two processes begin alike.
var unique atomic.Int64

func number() int64 {
	unique.CompareAndSwap(0, time.Now().UnixNano())
	return unique.Add(1)
}

// Saturate has workers do it for some time, each again as soon as it has done it. The first
// error ends it.
func (c Contender) Saturate(ctx context.Context, workers int, d time.Duration) (Load, error) {
	g := newGang(ctx)
	began := time.Now()
	for range workers {
		g.Go(func() {
			for time.Since(began) < d && g.ctx.Err() == nil {
				g.do(c)
			}
		})
	}
	return g.load(began)
}

// Arrive has it done so often each second, whether or not the one before is done: as those
// who come from elsewhere do.
func (c Contender) Arrive(ctx context.Context, rate float64, d time.Duration) (Load, error) {
	g := newGang(ctx)
	began := time.Now()
	for i := range int(rate * d.Seconds()) {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if pause(g.ctx, time.Until(due)) != nil {
			break
		}
		g.Go(func() { g.do(c) })
	}
	return g.load(began)
}

// gang is who does it at the same time.
type gang struct {
	sync.WaitGroup
	ctx    context.Context // ends with the first error
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	series Series
}

func newGang(ctx context.Context) *gang {
	g := &gang{}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

func (g *gang) do(c Contender) {
	began := time.Now()
	err := c.Do(g.ctx, number())
	took := time.Since(began)
	if err != nil {
		g.cancel(err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.series = append(g.series, took)
}

func (g *gang) load(began time.Time) (Load, error) {
	g.Wait()
	err := context.Cause(g.ctx)
	g.cancel(nil)
	return Load{g.series, time.Since(began)}, err
}
