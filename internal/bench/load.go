package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Load is what came of a contender that worked for some time.
type Load struct {
	Series
	// Elapsed is how long it took until the last one was done.
	Elapsed time.Duration
	// CPU is what all processors have worked meanwhile, whoever for; 0 where nobody has looked.
	CPU time.Duration
	// Rates are those of its turns.
	Rates []float64
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
	return Load{append(l.Series, other.Series...), l.Elapsed + other.Elapsed, l.CPU + other.CPU, append(l.Rates, other.Rates...)}
}

// Ratio is the rate in terms of another contender's, and the lowest and highest of any turn.
func (l Load) Ratio(other Load) (ratio, low, high float64) {
	ratio = l.Rate() / other.Rate()
	low, high = ratio, ratio
	for i := range min(len(l.Rates), len(other.Rates)) {
		of := l.Rates[i] / other.Rates[i]
		low, high = min(low, of), max(high, of)
	}
	return ratio, low, high
}

// CPUEach is the CPU time of each, of the whole machine.
func (l Load) CPUEach() time.Duration { return l.CPU / time.Duration(max(1, len(l.Series))) }

// SaturateInTurns has one contender after the other saturate the machine, so many times each, and
// begins with another one each time. The loads are in the order of the contenders, and know their
// CPU time. What a contender leaves to be done behind it (a server replaces what was used) is a
// part of its turn: it lasts as much longer as that takes on all processors.
func SaturateInTurns(ctx context.Context, workers, turns int, d time.Duration, contenders ...Contender) ([]Load, error) {
	loads := make([]Load, len(contenders))
	patience := max(d, time.Second)
	if _, err := rest(ctx, leastRest, patience); err != nil { // from what was before; each turn ends with one
		return nil, err
	}
	for turn := range turns {
		for i := range contenders {
			at := (i + turn) % len(contenders)
			c := contenders[at]
			before, err := Busy()
			if err != nil {
				return nil, err
			}
			l, err := c.Saturate(ctx, workers, d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			after, err := Busy()
			if err != nil {
				return nil, err
			}
			behind, err := rest(ctx, leastRest, patience)
			if err != nil {
				return nil, err
			}
			l.CPU = after - before + behind
			l.Elapsed += behind / time.Duration(runtime.NumCPU())
			l.Rates = []float64{l.Rate()}
			loads[at] = loads[at].Join(l)
		}
	}
	return loads, nil
}

// A machine rests when its processors have worked for so short a time, all of them together, in a
// rest of so long: clocks of /proc/stat tick every 10 ms.
const leastRest, atRest = 50 * time.Millisecond, 20 * time.Millisecond

// rest waits for so long, and again until the machine has rested meanwhile, or patience ends where
// others never let it. It returns what processors have worked before that. No rest is none.
func rest(ctx context.Context, d, patience time.Duration) (worked time.Duration, err error) {
	if d <= 0 {
		return 0, ctx.Err()
	}
	began := time.Now()
	before, err := Busy()
	if err != nil {
		return 0, err
	}
	for {
		if err := pause(ctx, max(d, leastRest)); err != nil {
			return 0, err
		}
		now, err := Busy()
		if err != nil {
			return 0, err
		}
		if now-before <= atRest || time.Since(began) >= patience {
			return worked, nil
		}
		worked += now - before
		before = now
	}
}

// unique are the numbers of [Contender.Do]; no two processes begin alike, and a double holds each.
var unique atomic.Int64

func number() int64 {
	unique.CompareAndSwap(0, time.Now().UnixMicro())
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
				g.do(c, time.Now())
			}
		})
	}
	return g.load(began)
}

// Arrive has it done so often each second, whether or not the one before is done: as those
// who come from elsewhere do. Each waits from when it was due.
func (c Contender) Arrive(ctx context.Context, rate float64, d time.Duration) (Load, error) {
	g := newGang(ctx)
	began := time.Now()
	for i := range int(rate * d.Seconds()) {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if pause(g.ctx, time.Until(due)) != nil {
			break
		}
		g.Go(func() { g.do(c, due) })
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

func (g *gang) do(c Contender, began time.Time) {
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
	return Load{Series: g.series, Elapsed: time.Since(began)}, err
}
