package api

import (
	"bytes"
	"encoding/json"
)

// Result is the one object that tells what happened. It is the same from the
// command line, from POST /execute and from the last event of a stream.
type Result struct {
	// ID is unique and sorts by time.
	ID string `json:"id"`
	// Success is true only when Status is [StatusOK].
	Success bool   `json:"success"`
	Status  Status `json:"status"`
	// Stdout and Stderr are those of the run phase, or of the phase that
	// failed. They are valid UTF-8: other bytes became U+FFFD, and then the
	// Base64 fields carry the exact bytes.
	Stdout       string `json:"stdout"`
	Stderr       string `json:"stderr"`
	StdoutBase64 string `json:"stdout_base64,omitempty"`
	StderrBase64 string `json:"stderr_base64,omitempty"`
	// ExitCode is that of the phase whose output is shown: 128+n when signal n
	// ended it, -1 when none started.
	ExitCode int `json:"exit_code"`
	// Signal is the name of the signal that ended the phase, or empty.
	Signal string `json:"signal"`
	// ExecutionTime is the wall clock of the run phase alone, in seconds.
	ExecutionTime float64 `json:"execution_time"`
	// MemoryUsed is the peak of the run phase, in bytes.
	MemoryUsed int64 `json:"memory_used"`
	// Language and Version are as resolved, e.g. python and 3.11.2.
	Language string `json:"language"`
	Version  string `json:"version"`
	// Message is one sentence that a person or a model can act on; empty when ok.
	Message string `json:"message"`
	// Limit is the limit that ended the run, if one did.
	Limit   *LimitHit       `json:"limit,omitempty"`
	Phases  []Phase         `json:"phases"`
	Metrics Metrics         `json:"metrics"`
	Files   map[string]File `json:"files"`
	// FilesSkipped names what was not collected and why.
	FilesSkipped []SkippedFile `json:"files_skipped"`
	Meta         Meta          `json:"meta"`
	// Retryable tells, when Status is [StatusSandboxError], whether the same
	// request may succeed later.
	Retryable *bool `json:"retryable,omitempty"`
}

// LimitHit is the limit that ended a phase.
type LimitHit struct {
	Name     string  `json:"name"`
	Limit    float64 `json:"limit"`
	Observed float64 `json:"observed"`
	// Unit is one of seconds, bytes, files, processes.
	Unit  string `json:"unit"`
	Phase string `json:"phase"`
	// Source is one of [SourceKernel], [SourceRuntime], [SourceSampled].
	Source string `json:"source"`
}

// Phase is one step of a run: install, compile or run.
type Phase struct {
	Name     string  `json:"name"`
	Status   Status  `json:"status"`
	ExitCode int     `json:"exit_code"`
	Signal   string  `json:"signal"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Metrics  Metrics `json:"metrics"`
}

// Metrics are the figures of a phase. A figure that cannot be had is nil,
// which is null in JSON, and never 0.
type Metrics struct {
	WallTimeS       *float64 `json:"wall_time_s"`
	CPUTimeS        *float64 `json:"cpu_time_s"`
	CPUUserS        *float64 `json:"cpu_user_s"`
	CPUSystemS      *float64 `json:"cpu_system_s"`
	MemoryPeakBytes *int64   `json:"memory_peak_bytes"`
	IOReadBytes     *int64   `json:"io_read_bytes"`
	IOWriteBytes    *int64   `json:"io_write_bytes"`
	ProcessesPeak   *int64   `json:"processes_peak"`
	PageFaults      *int64   `json:"page_faults"`
	ContextSwitches *int64   `json:"context_switches"`
	QueueS          *float64 `json:"queue_s"`
	SetupS          *float64 `json:"setup_s"`
	CollectS        *float64 `json:"collect_s"`
	// Sources maps a field's name to where it was read: cgroup2, cgroup1,
	// rusage or runtime.
	Sources map[string]string `json:"sources"`
}

// File is the content of one collected file.
type File struct {
	Content string `json:"content"`
	// Encoding is utf8 or base64.
	Encoding string `json:"encoding"`
	Size     int64  `json:"size"`
	// Mode is the permission bits in octal, e.g. 0644.
	Mode string `json:"mode"`
}

// SkippedFile is a file that was not collected.
type SkippedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Meta tells how the run was isolated, limited and served.
type Meta struct {
	// Runtime is one of local, docker, oci, e2b, remote.
	Runtime string `json:"runtime"`
	// IsolationLevel is one of full, restricted, none.
	IsolationLevel string `json:"isolation_level"`
	// Isolation maps each mechanism to enforced, degraded or absent.
	Isolation map[string]string `json:"isolation"`
	Image     string            `json:"image,omitempty"`
	// BlockedImports are the modules that the import policy objects to.
	BlockedImports []string `json:"blocked_imports"`
	// Truncated is true when captured output passed its cap.
	Truncated      bool           `json:"truncated"`
	ResourceLimits ResourceLimits `json:"resource_limits"`
	Network        NetworkMeta    `json:"network"`
	// Cost is an estimate of what the run's container has cost, where somebody takes
	// money for it and the operator has configured the prices.
	Cost *Cost `json:"cost,omitempty"`
	// Node is the machine that served the run, when there are several.
	Node string `json:"node,omitempty"`
	// Warm is true when a prepared container served the run.
	Warm bool `json:"warm"`
	// CachedCompile is true when a compile result was reused.
	CachedCompile bool     `json:"cached_compile"`
	Warnings      []string `json:"warnings"`
	// Violations are what a policy denied, with the rule.
	Violations []string `json:"violations"`
}

// Cost is an estimate, in the currency of the configured prices.
type Cost struct {
	Amount float64 `json:"amount"`
	// Seconds is how long the container has lived, the rest how large it was.
	Seconds     float64 `json:"seconds"`
	CPUCores    float64 `json:"cpu_cores"`
	MemoryBytes int64   `json:"memory_bytes"`
}

// ResourceLimits are the limits of the run phase as they were applied, and how
// far each is in force.
type ResourceLimits struct {
	TimeoutSeconds   float64 `json:"timeout_seconds"`
	CPUSeconds       float64 `json:"cpu_seconds,omitempty"`
	MemoryBytes      int64   `json:"memory_bytes"`
	CPUCores         float64 `json:"cpu_cores"`
	DiskBytes        int64   `json:"disk_bytes"`
	Processes        int64   `json:"processes"`
	OpenFiles        int64   `json:"open_files"`
	MaxOutputBytes   int64   `json:"max_output_bytes"`
	StreamLimitBytes int64   `json:"stream_limit_bytes,omitempty"`
	// Enforcement maps wall_time, cpu_time, cpu, memory, disk, inodes,
	// processes and open_files to enforced, degraded, sampled or absent.
	Enforcement map[string]string `json:"enforcement"`
}

// NetworkMeta is the network policy of the run phase as it was applied, and what
// all phases did with what they could reach. What was denied is in
// [Meta.Violations].
type NetworkMeta struct {
	Mode     string   `json:"mode"`
	Allow    []string `json:"allow,omitempty"`
	AllowDNS bool     `json:"allow_dns,omitempty"`
	// Connections are those that were made to somewhere, and the bytes are what
	// they carried.
	Connections   int64 `json:"connections,omitempty"`
	BytesSent     int64 `json:"bytes_sent,omitempty"`
	BytesReceived int64 `json:"bytes_received,omitempty"`
	// Queries are the names that were resolved by AllowDNS alone.
	Queries []string `json:"queries,omitempty"`
	// Failures are what was allowed and did not work, such as a host that is down.
	Failures []string `json:"failures,omitempty"`
}

// MarshalJSON writes empty lists and maps as [] and {}, so that a client never
// has to tell null from nothing.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result // without this method
	p := plain(r)
	fill(&p.Phases)
	fill(&p.FilesSkipped)
	fill(&p.Meta.BlockedImports)
	fill(&p.Meta.Warnings)
	fill(&p.Meta.Violations)
	fillMap(&p.Files)
	fillMap(&p.Meta.Isolation)
	fillMap(&p.Meta.ResourceLimits.Enforcement)
	// Angle brackets stay readable; an encoder that wants them escaped does so.
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(p)
	return b.Bytes(), err
}

// MarshalJSON writes Sources as {} when nothing is known.
func (m Metrics) MarshalJSON() ([]byte, error) {
	type plain Metrics // without this method
	p := plain(m)
	fillMap(&p.Sources)
	return json.Marshal(p)
}

func fill[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}

func fillMap[T any](m *map[string]T) {
	if *m == nil {
		*m = map[string]T{}
	}
}
