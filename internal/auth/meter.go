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
	if today := dayOf(now); today > m.day {
		m.day, m.underWay, m.runs, m.cpuSeconds = today, 0, 0, 0
	}
	if refused := m.check(l, now); refused != nil {
		return 0, refused
	}
	m.running++
	m.underWay++
	return m.day, nil
}

// release ends a run that began on a day.
func (m *meter) release(day int64, cpuSeconds float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if day != m.day {
		return
	}
	m.underWay--
	if cpuSeconds > 0 {
		m.runs++
		m.cpuSeconds += cpuSeconds
	}
}

func (m *meter) check(l store.KeyLimits, now time.Time) *LimitError {
	if refused := m.checkRate(l, now); refused != nil {
		return refused
	}
	midnight := startOf(dayOf(now) + 1).Sub(now)
	again := "counting begins again at 00:00 UTC, in " + midnight.Round(time.Second).String()
	switch {
	case l.Concurrency > 0 && m.running >= l.Concurrency:
		return &LimitError{LimitConcurrency, time.Second, fmt.Sprintf(
			"this API key may have %d runs at a time, and %d are under way: wait until one ends", l.Concurrency, m.running)}
	case l.RunsPerDay > 0 && m.runs+m.underWay >= l.RunsPerDay:
		return &LimitError{LimitRuns, midnight, fmt.Sprintf(
			"this API key may start %d runs a day, and has started %d today: %s", l.RunsPerDay, m.runs+m.underWay, again)}
	case l.CPUSecondsPerDay > 0 && m.cpuSeconds >= l.CPUSecondsPerDay:
		return &LimitError{LimitCPU, midnight, fmt.Sprintf(
			"this API key may use %s CPU-seconds a day, and has used %.1f today: %s",
			strconv.FormatFloat(l.CPUSecondsPerDay, 'f', -1, 64), m.cpuSeconds, again)}
	}
	return nil
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
