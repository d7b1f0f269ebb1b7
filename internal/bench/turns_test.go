package bench_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
)

// Contenders take turns, nobody is always first, and no number comes twice.
func TestMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		seen := map[int64]bool{}
		contender := func(name string, takes time.Duration) bench.Contender {
			return bench.Contender{Name: name, Do: func(_ context.Context, n int64) error {
				order = append(order, name)
				if seen[n] {
					t.Errorf("%d comes twice", n)
				}
				seen[n] = true
				time.Sleep(takes * time.Duration(len(order)))
				return nil
			}}
		}
		series, err := bench.Turns{Rounds: 3, WarmUp: 1, Idle: time.Second}.Measure(t.Context(), contender("a", 1), contender("b", 100))
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"a", "b", "b", "a", "a", "b", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("order %v", order)
		}
		if want := []bench.Series{{4, 5, 8}, {300, 600, 700}}; fmt.Sprint(series) != fmt.Sprint(want) {
			t.Errorf("series %v, want %v", series, want)
		}
	})
}

func TestMeasureFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := bench.Turns{Rounds: 1}.Measure(t.Context(), bench.Contender{Name: "bare", Do: func(context.Context, int64) error { return broken }})
	if !errors.Is(err, broken) || err.Error() != "bare: broken" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = bench.Turns{Rounds: 1, Idle: time.Hour}.Measure(ctx, bench.Contender{Do: func(context.Context, int64) error { return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestQuantile(t *testing.T) {
	var hundred bench.Series
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, c := range []struct {
		of   bench.Series
		q    float64
		want time.Duration
	}{
		{nil, 0.5, 0}, {bench.Series{7}, 0.99, 7}, {bench.Series{3, 1, 2}, 0.5, 2}, {hundred, 0.5, 50}, {hundred, 0.95, 95}, {hundred, 0.99, 99}, {hundred, 0.07, 7}, {hundred, 1, 100}, {hundred, 0, 1},
	} {
		if got := c.of.Quantile(c.q); got != c.want {
			t.Errorf("the %v quantile of %d is %d, want %d", c.q, len(c.of), got, c.want)
		}
	}
	for n, want := range map[int][2]bool{19: {false, false}, 20: {true, false}, 99: {true, false}, 100: {true, true}} {
		if got := [2]bool{hundred[:n].Tells(0.95), hundred[:n].Tells(0.99)}; got != want {
			t.Errorf("%d tell %v of 0.95 and 0.99", n, got)
		}
	}
}

// The interval has the ratio in it, and is narrow where rounds are alike, however much they
// differ from one another together.
func TestRatioInterval(t *testing.T) {
	var a, b bench.Series
	for i := range 200 {
		noise := time.Duration(i%7) * 100
		a, b = append(a, 1000+noise), append(b, 2*(1000+noise))
	}
	low, high := a.RatioInterval(b)
	if r := a.Ratio(b); math.Abs(r-0.5) > 1e-9 || low > r || high < r || high-low > 1e-9 {
		t.Errorf("%v to %v around %v", low, high, r)
	}
	slices.Reverse(b)
	if l, h := a.RatioInterval(b); l >= low || h <= high {
		t.Errorf("rounds that differ give %v to %v", l, h)
	}
	if l, h := a.RatioInterval(b[:3]); l != 0 || h != 0 {
		t.Errorf("of unequal series: %v to %v", l, h)
	}
}
