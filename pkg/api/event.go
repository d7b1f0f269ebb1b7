package api

// EventType names the kinds of [Event].
type EventType string

// The kinds of events. [EventResult] is always the last of a stream and comes
// exactly once.
const (
	EventStart     EventType = "start"
	EventPhase     EventType = "phase"
	EventStdout    EventType = "stdout"
	EventStderr    EventType = "stderr"
	EventMetrics   EventType = "metrics"
	EventWarning   EventType = "warning"
	EventHeartbeat EventType = "heartbeat"
	EventResult    EventType = "result"
)

// The two ends of a phase; see [Event.State].
const (
	PhaseBegin = "begin"
	PhaseEnd   = "end"
)

// Event is one thing that happened while a run went on. Which fields are set
// depends on Type.
type Event struct {
	// Seq counts from 1 without gaps.
	Seq int64 `json:"seq"`
	// T is seconds since the start of the run.
	T    float64   `json:"t"`
	Type EventType `json:"type"`

	// ID, Language and Version belong to start.
	ID       string `json:"id,omitempty"`
	Language string `json:"language,omitempty"`
	Version  string `json:"version,omitempty"`

	// Name, State and Status belong to phase.
	Name   string `json:"name,omitempty"`
	State  string `json:"state,omitempty"`
	Status Status `json:"status,omitempty"`

	// Data (valid UTF-8, runes never split) or DataBase64 belong to stdout and
	// stderr.
	Data       string `json:"data,omitempty"`
	DataBase64 string `json:"data_base64,omitempty"`

	// Message belongs to warning.
	Message string `json:"message,omitempty"`

	Metrics *Metrics `json:"metrics,omitempty"`
	Result  *Result  `json:"result,omitempty"`
}
