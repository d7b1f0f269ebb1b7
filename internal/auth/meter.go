package auth

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// meter counts what one key uses.
type meter struct {
	mu      sync.Mutex
	bucket  *rate.Limiter // nil until there is a rate
	running int64

	day        int64 // the UTC day of the figures below
	underWay   int64 // runs that began on that day and have not ended
	runs       int64 // those that have
	cpuSeconds float64
}

// admit counts a run that begins, or tells what it would exceed. The day is what
// release wants to know.
func (m *meter) admit(l store.KeyLimits, now time.Time) (day int64, refused *LimitError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	if refused := m.check(l, now); refused != nil {
		return 0, refused
	}
	m.running++
	m.underWay++
	return m.day, nil
}

// turn begins the day, if it is another.
func (m *meter) turn(now time.Time) {
	if today := dayOf(now); today > m.day {
		m.day, m.underWay, m.runs, m.cpuSeconds = today, 0, 0, 0
	}
}

// spend charges CPU time, unless the day of the run is over.
func (m *meter) spend(r *Run, cpuSeconds float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.ran = true
	if r.day == m.day {
		m.cpuSeconds += cpuSeconds
	}
}

// goOn tells whether there is something left for a run, which is one of today from then on.
func (m *meter) goOn(r *Run, l store.KeyLimits, now time.Time) *LimitError {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	if r.day != m.day {
		r.day = m.day
		m.underWay++
	}
	return m.checkCPU(l, now)
}

// release ends a run.
func (m *meter) release(r *Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if r.day != m.day {
		return
	}
	m.underWay--
	if r.ran {
		m.runs++
	}
}

func (m *meter) check(l store.KeyLimits, now time.Time) *LimitError {
	if refused := m.checkRate(l, now); refused != nil {
		return refused
	}
	midnight, again := tomorrow(now)
	switch {
	case l.Concurrency > 0 && m.running >= l.Concurrency:
		return &LimitError{LimitConcurrency, time.Second, fmt.Sprintf(
			"this API key may have %d runs at a time, and %d are under way: wait until one ends", l.Concurrency, m.running)}
	case l.RunsPerDay > 0 && m.runs+m.underWay >= l.RunsPerDay:
		return &LimitError{LimitRuns, midnight, fmt.Sprintf(
			"this API key may start %d runs a day, and has started %d today: %s", l.RunsPerDay, m.runs+m.underWay, again)}
	}
	return m.checkCPU(l, now)
}

func (m *meter) checkCPU(l store.KeyLimits, now time.Time) *LimitError {
	if l.CPUSecondsPerDay == 0 || m.cpuSeconds < l.CPUSecondsPerDay {
		return nil
	}
	midnight, again := tomorrow(now)
	return &LimitError{LimitCPU, midnight, fmt.Sprintf(
		"this API key may use %s CPU-seconds a day, and has used %.1f today: %s",
		strconv.FormatFloat(l.CPUSecondsPerDay, 'f', -1, 64), m.cpuSeconds, again)}
}

// tomorrow is how far away it is, and the words for it.
func tomorrow(now time.Time) (midnight time.Duration, again string) {
	midnight = startOf(dayOf(now) + 1).Sub(now)
	return midnight, "counting begins again at 00:00 UTC, in " + midnight.Round(time.Second).String()
}

// checkRate takes a token, or tells when there will be one.
func (m *meter) checkRate(l store.KeyLimits, now time.Time) *LimitError {
	if l.RequestsPerMinute == 0 {
		return nil
	}
	burst := l.Burst
	if burst == 0 {
		burst = l.RequestsPerMinute
	}
	m.setRate(rate.Limit(float64(l.RequestsPerMinute)/60), int(burst), now)
	token := m.bucket.ReserveN(now, 1)
	wait := token.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	token.CancelAt(now)
	return &LimitError{LimitRate, wait, fmt.Sprintf(
		"this API key may make %d requests a minute and %d at once, which it has: the next one is free in %s",
		l.RequestsPerMinute, burst, wait.Round(time.Millisecond))}
}

// setRate makes the bucket, or changes it when the limits of the key did.
func (m *meter) setRate(limit rate.Limit, burst int, now time.Time) {
	switch {
	case m.bucket == nil:
		m.bucket = rate.NewLimiter(limit, burst)
	case m.bucket.Limit() != limit || m.bucket.Burst() != burst:
		m.bucket.SetLimitAt(now, limit)
		m.bucket.SetBurstAt(now, burst)
	}
}

// dayOf numbers the UTC days, and startOf is when one begins.
func dayOf(t time.Time) int64     { return t.Unix() / (24 * 60 * 60) }
func startOf(day int64) time.Time { return time.Unix(day*24*60*60, 0) }
