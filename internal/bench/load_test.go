package bench_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
)

func sleeper(d time.Duration) bench.Contender {
	return bench.Contender{Do: func(context.Context, int64) error { time.Sleep(d); return nil }}
}

// Workers go on until the time is over; who arrives does so whatever goes on.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, err := sleeper(100*time.Millisecond).Saturate(t.Context(), 4, 10*time.Second)
		if err != nil || len(full.Series) != 400 || math.Abs(full.Rate()-40) > 1e-9 || full.Quantile(0.99) != 100*time.Millisecond {
			t.Errorf("%d done, %v a second, %v", len(full.Series), full.Rate(), err)
		}
		arrived, err := sleeper(time.Second).Arrive(t.Context(), 20, 10*time.Second)
		if err != nil || len(arrived.Series) != 200 || arrived.Elapsed < 10*time.Second || arrived.Elapsed > 11*time.Second {
			t.Errorf("%d done in %v, %v", len(arrived.Series), arrived.Elapsed, err)
		}
		if both := full.Join(full); len(both.Series) != 800 || math.Abs(both.Rate()-40) > 1e-9 {
			t.Errorf("twice the same is %d, %v a second", len(both.Series), both.Rate())
		}
		if (bench.Load{}).Rate() != 0 {
			t.Error("nothing has a rate")
		}
	})
}

// Contenders take turns, and what processors have done meanwhile is told.
func TestTurnsOfLoad(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc/stat")
	}
	var order string
	works := func(name string) bench.Contender {
		return bench.Contender{Name: name, Do: func(context.Context, int64) error {
			if !strings.HasSuffix(order, name) {
				order += name
			}
			for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
			}
			return nil
		}}
	}
	loads, err := bench.SaturateInTurns(t.Context(), 1, 2, 60*time.Millisecond, works("a"), works("b"))
	if err != nil || order != "aba" || len(loads) != 2 {
		t.Fatalf("%d loads in the order %s, %v", len(loads), order, err)
	}
	for _, l := range loads {
		if len(l.Series) < 2 || l.CPU <= 0 || l.CPUEach() <= 0 || len(l.Rates) != 2 {
			t.Errorf("%d done in %v, which took %v of CPU time: %v", len(l.Series), l.Elapsed, l.CPU, l.Rates)
		}
	}
	broken := bench.Contender{Name: "c", Do: func(context.Context, int64) error { return errors.New("broken") }}
	if _, err := bench.SaturateInTurns(t.Context(), 1, 1, time.Hour, broken); err == nil || !strings.Contains(err.Error(), "c: broken") {
		t.Errorf("error %v", err)
	}
}

// What is done behind a contender is a part of its turn.
func TestTurnsWaitForWhatIsBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc/stat")
	}
	const behind = 300 * time.Millisecond
	var working atomic.Int32
	leaves := bench.Contender{Name: "leaves", Do: func(context.Context, int64) error {
		time.Sleep(60 * time.Millisecond)
		working.Add(1)
		go func() {
			for end := time.Now().Add(behind); time.Now().Before(end); {
			}
			working.Add(-1)
		}()
		return nil
	}}
	comes := bench.Contender{Name: "comes", Do: func(context.Context, int64) error {
		time.Sleep(60 * time.Millisecond)
		if working.Load() > 0 {
			return errors.New("the one before it still works")
		}
		return nil
	}}
	loads, err := bench.SaturateInTurns(t.Context(), 1, 1, 50*time.Millisecond, leaves, comes)
	if err != nil {
		t.Fatal(err)
	}
	if l := loads[0]; l.CPU < behind/2 || l.Elapsed < 60*time.Millisecond+behind/2/time.Duration(runtime.NumCPU()) {
		t.Errorf("it took %v and %v of CPU time", l.Elapsed, l.CPU)
	}
	if _, err := (bench.Turns{Rounds: 1, Idle: 50 * time.Millisecond}).Measure(t.Context(), leaves, comes); err != nil {
		t.Error(err)
	}
}

// The ratio of two loads lies between those of their turns.
func TestLoadRatio(t *testing.T) {
	load := func(n int, rates ...float64) bench.Load {
		return bench.Load{Series: make(bench.Series, n), Elapsed: time.Second, Rates: rates}
	}
	ratio, low, high := load(30, 10, 20).Ratio(load(20, 10, 10))
	if ratio != 1.5 || low != 1 || high != 2 {
		t.Errorf("%v (%v to %v)", ratio, low, high)
	}
}

// What fails ends it, and says why.
func TestLoadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, calls := errors.New("broken"), atomic.Int64{}
		c := bench.Contender{Do: func(context.Context, int64) error {
			time.Sleep(time.Millisecond)
			if calls.Add(1) == 10 {
				return broken
			}
			return nil
		}}
		if _, err := c.Saturate(t.Context(), 2, time.Hour); !errors.Is(err, broken) {
			t.Error(err)
		}
		calls.Store(0)
		if _, err := c.Arrive(t.Context(), 100, time.Hour); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// No number comes twice, whoever asks.
func TestNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, twice := map[int64]bool{}, false
		c := bench.Contender{Do: func(_ context.Context, n int64) error {
			time.Sleep(time.Millisecond)
			twice = twice || seen[n]
			seen[n] = true
			return nil
		}}
		for range 2 {
			if _, err := c.Saturate(t.Context(), 1, time.Second); err != nil || twice {
				t.Errorf("twice %v, %v", twice, err)
			}
		}
	})
}
