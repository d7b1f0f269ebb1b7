package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// metrics are what Prometheus reads. Labels have closed sets of values: what a
// caller sends is never one.
type metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	phases   *prometheus.HistogramVec
	memory   *prometheus.HistogramVec
	taken    *prometheus.CounterVec
	queue    prometheus.Histogram
	setup    prometheus.Histogram
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	// containers are those of other servers.
	containers prometheus.Counter
}

func newMetrics(ledger *capacity.Ledger, runs *executor.Executor) *metrics {
	// From what a waiting interpreter takes to the longest run.
	buckets := []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 60, 300}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	auto := promauto.With(registry)
	m := &metrics{
		registry: registry,
		runs: auto.NewCounterVec(prometheus.CounterOpts{Name: "sandbox_runs_total",
			Help: "Runs that ended, by language and status."}, []string{"language", "status"}),
		phases: auto.NewHistogramVec(prometheus.HistogramOpts{Name: "sandbox_phase_seconds", Buckets: buckets,
			Help: "Wall clock of a phase, by language and status."}, []string{"phase", "language", "status"}),
		memory: auto.NewHistogramVec(prometheus.HistogramOpts{Name: "sandbox_phase_memory_bytes", Buckets: prometheus.ExponentialBuckets(1<<20, 2, 14),
			Help: "Peak of memory of a phase, by language."}, []string{"phase", "language"}),
		taken: auto.NewCounterVec(prometheus.CounterOpts{Name: "sandbox_containers_taken_total",
			Help: "Containers that runs have had, by language: warm ones were ready, cold ones were made then."}, []string{"language", "how"}),
		queue: auto.NewHistogram(prometheus.HistogramOpts{Name: "sandbox_queue_seconds", Buckets: buckets,
			Help: "Time that a run waited for a place."}),
		setup: auto.NewHistogram(prometheus.HistogramOpts{Name: "sandbox_setup_seconds", Buckets: buckets,
			Help: "Time that making the container took."}),
		requests: auto.NewCounterVec(prometheus.CounterOpts{Name: "sandbox_http_requests_total",
			Help: "Requests, by route and status."}, []string{"route", "code"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{Name: "sandbox_http_request_seconds", Buckets: buckets,
			Help: "Time from the header of a request to the end of its answer, by route."}, []string{"route"}),
		containers: auto.NewCounter(prometheus.CounterOpts{Name: "sandbox_containers_total", Help: "Containers that were made for other servers."}),
	}
	gauge := func(name, help string, value func() float64) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("sandbox_running", "Runs that are going on.", func() float64 { return float64(ledger.Load().Running) })
	gauge("sandbox_waiting", "Runs that wait for a place.", func() float64 { return float64(ledger.Load().Waiting) })
	gauge("sandbox_capacity", "Runs that may go on at a time.", func() float64 { return float64(ledger.Limits().Runs) })
	gauge("sandbox_memory_granted_bytes", "Sum of the memory limits of what runs.", func() float64 { return float64(ledger.Load().MemoryBytes) })
	gauge("sandbox_memory_capacity_bytes", "What that sum may reach.", func() float64 { return float64(ledger.Limits().MemoryBytes) })
	gauge("sandbox_ancestors", "Interpreters that wait to be forked.", func() float64 { return float64(runs.Ancestors()) })
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// ended counts a run.
func (m *metrics) ended(result *api.Result) {
	m.runs.WithLabelValues(result.Language, string(result.Status)).Inc()
	for _, phase := range result.Phases {
		if s := phase.Metrics.WallTimeS; s != nil {
			m.phases.WithLabelValues(phase.Name, result.Language, string(phase.Status)).Observe(*s)
		}
		if b := phase.Metrics.MemoryPeakBytes; b != nil {
			m.memory.WithLabelValues(phase.Name, result.Language).Observe(float64(*b))
		}
	}
	if result.Meta.IsolationLevel != "" { // it has had one
		m.taken.WithLabelValues(result.Language, map[bool]string{true: "warm", false: "cold"}[result.Meta.Warm]).Inc()
	}
	observe(m.queue, result.Metrics.QueueS)
	observe(m.setup, result.Metrics.SetupS)
}

func observe(h prometheus.Histogram, s *float64) {
	if s != nil {
		h.Observe(*s)
	}
}

// request counts a request. An unknown route is one of its own.
func (m *metrics) request(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}
