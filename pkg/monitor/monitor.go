// Package monitor watches a process while it runs: it samples its figures, keeps
// the peaks that nobody else remembers, feeds the live stream, and folds what is
// known in the end into the metrics of the wire format.
package monitor

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Interval is the time between samples, and how often a live stream gets figures.
const Interval = 100 * time.Millisecond

// Options say what to watch.
type Options struct {
	// Disk reads how full the workspace is; nil is not watched.
	Disk func() (sandbox.DiskUsage, error)
	// OnSample receives the figures of each sample, from one goroutine; it may
	// be nil.
	OnSample func(api.Metrics)
}

// Monitor samples one process. Start it with [Watch], stop it with
// [Monitor.Stop].
type Monitor struct {
	running sandbox.Running
	opts    Options
	started time.Time
	quit    chan struct{}
	ended   sync.WaitGroup

	mu   sync.Mutex
	disk sandbox.DiskUsage // the fullest that was seen
	peak peaks
}

// peaks are the largest samples, for runtimes that keep no peak themselves.
type peaks struct{ memory, processes *int64 }

// Watch begins to sample a process.
func Watch(running sandbox.Running, opts Options) *Monitor {
	m := &Monitor{running: running, opts: opts, started: time.Now(), quit: make(chan struct{})}
	m.ended.Go(m.run)
	return m
}

func (m *Monitor) run() {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-tick.C:
			m.sample()
		}
	}
}

func (m *Monitor) sample() {
	figures, err := m.running.Metrics()
	if err != nil {
		return
	}
	m.mu.Lock()
	keepLargest(&m.peak.memory, figures.MemoryBytes)
	keepLargest(&m.peak.processes, figures.Processes)
	if m.opts.Disk != nil {
		if d, err := m.opts.Disk(); err == nil {
			m.disk = fuller(m.disk, d)
		}
	}
	peak := m.peak
	m.mu.Unlock()
	if m.opts.OnSample != nil {
		m.opts.OnSample(fold(figures, peak, time.Since(m.started)))
	}
}

// Stop ends the sampling. It may be called once.
func (m *Monitor) Stop() {
	close(m.quit)
	m.ended.Wait()
}

// DiskPeak is the fullest that the workspace was seen.
func (m *Monitor) DiskPeak() sandbox.DiskUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disk
}

// Result folds the end of the process and what was sampled into its metrics.
func (m *Monitor) Result(exit sandbox.Exit) api.Metrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fold(exit.Metrics, m.peak, exit.Duration)
}

func keepLargest(to **int64, n *int64) {
	if n != nil && (*to == nil || **to < *n) {
		*to = n
	}
}

// fuller is the usage that is closer to its limit.
func fuller(a, b sandbox.DiskUsage) sandbox.DiskUsage {
	if b.BytesUsed > a.BytesUsed || b.InodesUsed > a.InodesUsed {
		b.BytesUsed, b.InodesUsed = max(a.BytesUsed, b.BytesUsed), max(a.InodesUsed, b.InodesUsed)
		return b
	}
	return a
}

// fold turns figures into the wire format. What is not known stays nil.
func fold(f sandbox.Metrics, p peaks, wall time.Duration) api.Metrics {
	m := api.Metrics{
		WallTimeS:       seconds(&wall),
		CPUUserS:        seconds(f.CPUUser),
		CPUSystemS:      seconds(f.CPUSystem),
		MemoryPeakBytes: f.MemoryPeakBytes,
		IOReadBytes:     f.IOReadBytes,
		IOWriteBytes:    f.IOWriteBytes,
		ProcessesPeak:   f.ProcessesPeak,
		PageFaults:      f.PageFaults,
		ContextSwitches: f.ContextSwitches,
		Sources:         maps.Clone(f.Sources),
	}
	if m.Sources == nil {
		m.Sources = map[string]string{}
	}
	m.Sources["wall_time_s"] = "runtime"
	if cpu, ok := f.CPU(); ok {
		m.CPUTimeS = seconds(&cpu)
	}
	// What a group has not counted may be the largest process's, or of the end alone.
	larger := func(name string, of **int64, seen *int64) {
		_, counted := strings.CutPrefix(m.Sources[name], "cgroup")
		if seen != nil && (*of == nil || !counted && **of < *seen) {
			*of, m.Sources[name] = seen, "runtime"
		}
	}
	larger("memory_peak_bytes", &m.MemoryPeakBytes, p.memory)
	larger("processes_peak", &m.ProcessesPeak, p.processes)
	return m
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}
