package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Contender is one way to do what is measured.
type Contender struct {
	Name string
	// Do does it once. No two calls get the same n: for a source that nobody has seen.
	Do func(ctx context.Context, n int64) error
}

// Turns say how often something is measured.
type Turns struct {
	// Rounds count; WarmUp come before them and do not.
	Rounds, WarmUp int
	// Idle is the rest before each measurement, and lasts until the machine does rest: what one
	// contender leaves to be done behind it is not to be the next one's. In a busy loop, which
	// is what 0 gives, nobody sees what the kernel waits for after some idle milliseconds (RCU).
	Idle time.Duration
}

// The machine is to have rested for settled before the first round, and is given settledWithin for that: a
// server that has just started makes containers for all languages, and one that was asked for something else
// makes those anew.
const settled, settledWithin = 200 * time.Millisecond, 5 * time.Second

// Measure has each contender do it in every round, one after the other, beginning with
// another one each time. The series are in the order of the contenders.
func (t Turns) Measure(ctx context.Context, contenders ...Contender) ([]Series, error) {
	series := make([]Series, len(contenders))
	if _, err := rest(ctx, settled, settledWithin); err != nil {
		return nil, err
	}
	for round := range t.WarmUp + t.Rounds {
		for i := range contenders {
			at := (i + round) % len(contenders)
			if _, err := rest(ctx, t.Idle, 20*t.Idle); err != nil {
				return nil, err
			}
			began := time.Now()
			if err := contenders[at].Do(ctx, number()); err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[at].Name, err)
			}
			if took := time.Since(began); round >= t.WarmUp {
				series[at] = append(series[at], took)
			}
		}
	}
	return series, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Series are measurements of one contender, in the order of the rounds.
type Series []time.Duration

// Quantile is the nearest rank: of 100 measurements the 0.99 quantile is the largest but
// one. It is 0 of none.
func (s Series) Quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := math.Ceil(q*float64(len(sorted)) - 1e-9) // 0.07 of 100 are seven, and a little more in binary
	return sorted[min(max(int(rank)-1, 0), len(sorted)-1)]
}

// Tells is whether there are enough measurements for a quantile above the median: of fewer, the
// largest would be it.
func (s Series) Tells(q float64) bool { return float64(len(s))*(1-q) >= 1-1e-9 }

// Ratio is the median of s in terms of that of other.
func (s Series) Ratio(other Series) float64 {
	return float64(s.Quantile(0.5)) / float64(other.Quantile(0.5))
}

// resamples is how many series a bootstrap draws.
const resamples = 2000

// RatioInterval is where [Series.Ratio] lies with 95 % confidence: the percentile bootstrap
// (Efron, 1979) over rounds, whose measurements stay together, since they were taken at the
// same time. Both series have the same length.
func (s Series) RatioInterval(other Series) (low, high float64) {
	if len(s) == 0 || len(s) != len(other) {
		return 0, 0
	}
	random := rand.New(rand.NewPCG(1, uint64(len(s)))) // the same series give the same interval
	ratios := make([]float64, resamples)
	a, b := make(Series, len(s)), make(Series, len(s))
	for i := range ratios {
		for j := range a {
			round := random.IntN(len(s))
			a[j], b[j] = s[round], other[round]
		}
		ratios[i] = a.Ratio(b)
	}
	slices.Sort(ratios)
	return ratios[resamples*25/1000], ratios[resamples*975/1000-1]
}
