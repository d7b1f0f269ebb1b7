package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
	return Load{append(l.Series, other.Series...), l.Elapsed + other.Elapsed, l.CPU + other.CPU}
}

// CPUEach is the CPU time of each, of the whole machine.
func (l Load) CPUEach() time.Duration { return l.CPU / time.Duration(max(1, len(l.Series))) }

// SaturateInTurns has one contender after the other saturate the machine, so many times each.
// The loads are in the order of the contenders, and know their CPU time.
func SaturateInTurns(ctx context.Context, workers, turns int, d time.Duration, contenders ...Contender) ([]Load, error) {
	loads := make([]Load, len(contenders))
	for range turns {
		for i, c := range contenders {
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
			l.CPU = after - before
			loads[i] = loads[i].Join(l)
		}
	}
	return loads, nil
}

// Busy is how long the machine's processors have worked, all of them together: proc_stat(5).
func Busy() (time.Duration, error) {
	// user, nice, system, idle, iowait, irq, softirq, in ticks that are 10 ms for every program.
	const tick, idle, iowait, last = 10 * time.Millisecond, 3, 4, 6
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "cpu"))
	if len(fields) <= last {
		return 0, errors.New("/proc/stat does not tell how long processors have worked")
	}
	var sum time.Duration
	for i, field := range fields[:last+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != idle && i != iowait {
			sum += time.Duration(ticks) * tick
		}
	}
	return sum, nil
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
	return Load{Series: g.series, Elapsed: time.Since(began)}, err
}
