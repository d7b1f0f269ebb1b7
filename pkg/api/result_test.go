package api_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares v, as JSON, with testdata/name.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; fields may be added, none renamed (-update writes it):\n%s", name, diff)
	}
}

func pointer[T any](v T) *T { return &v }

func fullMetrics() api.Metrics {
	return api.Metrics{
		WallTimeS: pointer(1.5), CPUTimeS: pointer(0.75), CPUUserS: pointer(0.5), CPUSystemS: pointer(0.25), MemoryPeakBytes: pointer(int64(1 << 20)),
		IOReadBytes: pointer(int64(0)), IOWriteBytes: pointer(int64(4096)), ProcessesPeak: pointer(int64(3)), PageFaults: pointer(int64(100)),
		ContextSwitches: pointer(int64(7)), QueueS: pointer(0.0), SetupS: pointer(0.001), CollectS: pointer(0.002),
		Sources: map[string]string{"cpu_time_s": "cgroup2"},
	}
}

// fullResult has every field set.
func fullResult() api.Result {
	return api.Result{
		ID: "01ARYZ6S41TSV4RRFFQ69G5FAV", Success: true, Status: api.StatusOK, Stdout: "<a> & é\u2028\n", Stderr: "\uFFFD",
		StdoutBase64: "eA==", StderrBase64: "/w==", ExitCode: 137, Signal: "SIGKILL", ExecutionTime: 1.5, MemoryUsed: 1 << 20,
		Language: "python", Version: "3.11.2", Message: "m",
		Limit:        &api.LimitHit{Name: api.LimitMemory, Limit: 1 << 20, Observed: 1 << 20, Unit: "bytes", Phase: api.PhaseRun, Source: api.SourceKernel},
		Phases:       []api.Phase{{Name: api.PhaseRun, Status: api.StatusOK, ExitCode: 1, Signal: "SIGTERM", Stdout: "o", Stderr: "e", Metrics: fullMetrics()}},
		Metrics:      fullMetrics(),
		Files:        map[string]api.File{"out.bin": {Content: "/w==", Encoding: "base64", Size: 1, Mode: "0644"}},
		FilesSkipped: []api.SkippedFile{{Path: "link", Reason: "not a regular file"}},
		Meta: api.Meta{
			Runtime: "local", IsolationLevel: "full", Isolation: map[string]string{"seccomp": api.Enforced}, Image: "python:3", Cost: &api.Cost{Amount: 0.01, Seconds: 2, CPUCores: 2, MemoryBytes: 512 << 20}, BlockedImports: []string{"ctypes"},
			Truncated: true, Node: "n1", Warm: true, CachedCompile: true,
			Network: api.NetworkMeta{Mode: "allowlist", Allow: []string{"example.org:443"}, AllowDNS: true,
				Connections: 2, BytesSent: 300, BytesReceived: 4000, Queries: []string{"A example.com"}, Failures: []string{"f"}},
			ResourceLimits: api.ResourceLimits{TimeoutSeconds: 33, CPUSeconds: 10, MemoryBytes: 512 << 20, CPUCores: 0.5, DiskBytes: 256 << 20, Processes: 128,
				OpenFiles: 256, MaxOutputBytes: 20 << 10, StreamLimitBytes: 64 << 20, Enforcement: map[string]string{"memory": api.Sampled}},
			Warnings: []string{"w"}, Violations: []string{"v"},
		},
		Retryable: pointer(false),
	}
}

func TestGoldenResults(t *testing.T) {
	golden(t, "full.json", fullResult())
	golden(t, "empty.json", api.Result{})
	golden(t, "event.json", api.Event{Seq: 1, T: 0.5, Type: api.EventStdout, Data: "x"})
	golden(t, "event_result.json", api.Event{Seq: 2, T: 1, Type: api.EventResult, Result: &api.Result{}})
}

// TestFullResultIsFull keeps the golden file complete: a field that is added
// must be set there.
func TestFullResultIsFull(t *testing.T) {
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				t.Errorf("%s is not set", path)
				return
			}
			if v.Elem().Kind() == reflect.Struct {
				check(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				check(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice, reflect.Map, reflect.String:
			if v.Len() == 0 {
				t.Errorf("%s is not set", path)
			}
		default:
			if v.IsZero() {
				t.Errorf("%s is not set", path)
			}
		}
	}
	check("Result", reflect.ValueOf(fullResult()))
}

// The fields that the contract promises, by the object that has them.
var promised = map[string]string{
	"": "id success status stdout stderr stdout_base64 stderr_base64 exit_code signal execution_time memory_used language version " +
		"message limit phases metrics files files_skipped meta retryable",
	"limit":         "name limit observed unit phase source",
	"phases":        "name status exit_code signal stdout stderr metrics",
	"metrics":       "wall_time_s cpu_time_s cpu_user_s cpu_system_s memory_peak_bytes io_read_bytes io_write_bytes processes_peak page_faults context_switches queue_s setup_s collect_s sources",
	"files":         "content encoding size mode",
	"files_skipped": "path reason",
	"meta":          "runtime isolation_level isolation image blocked_imports truncated resource_limits network node warm cached_compile warnings violations",
}

func TestEveryPromisedFieldIsThere(t *testing.T) {
	text, err := json.Marshal(fullResult())
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	whole["phases"] = whole["phases"].([]any)[0]
	whole["files_skipped"] = whole["files_skipped"].([]any)[0]
	whole["files"] = whole["files"].(map[string]any)["out.bin"]
	for object, fields := range promised {
		in := whole
		if object != "" {
			in = whole[object].(map[string]any)
		}
		for field := range strings.FieldsSeq(fields) {
			if _, ok := in[field]; !ok {
				t.Errorf("%s lacks %s", object, field)
			}
		}
	}
}

// In an empty result a figure is null, a list [] and a map {}.
func TestEmptyResultHasNoNullButFigures(t *testing.T) {
	text, err := json.Marshal(api.Result{Phases: []api.Phase{{}}})
	if err != nil {
		t.Fatal(err)
	}
	var check func(path string, v any)
	check = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				check(path+"/"+name, field)
			}
		case []any:
			for _, element := range v {
				check(path, element)
			}
		case nil:
			if !strings.Contains(path, "/metrics/") {
				t.Errorf("%s is null", path)
			}
		}
	}
	var whole any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	check("", whole)
	for _, want := range []string{`"wall_time_s":null`, `"memory_peak_bytes":null`, `"sources":{}`, `"files":{}`, `"files_skipped":[]`, `"isolation":{}`, `"enforcement":{}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

func TestResultSurvivesTheWire(t *testing.T) {
	text, err := json.Marshal(fullResult())
	if err != nil {
		t.Fatal(err)
	}
	var back api.Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullResult(), back); diff != "" {
		t.Error(diff)
	}
}

// The words that others match on.
func TestWordsAreFinal(t *testing.T) {
	statuses := []api.Status{api.StatusOK, api.StatusRuntimeError, api.StatusCompileError, api.StatusInstallError, api.StatusSignaled, api.StatusTimeout,
		api.StatusCPULimit, api.StatusMemoryLimit, api.StatusOutputLimit, api.StatusDiskLimit, api.StatusProcessLimit, api.StatusPolicyBlocked, api.StatusCancelled, api.StatusSandboxError}
	golden(t, "words.json", map[string]any{
		"statuses": statuses,
		"phases":   []string{api.PhaseInstall, api.PhaseCompile, api.PhaseRun},
		"limits":   []string{api.LimitWallTime, api.LimitCPUTime, api.LimitMemory, api.LimitOutput, api.LimitDisk, api.LimitInodes, api.LimitProcesses, api.LimitOpenFiles},
		"sources":  []string{api.SourceKernel, api.SourceRuntime, api.SourceSampled},
		"states":   []string{api.Enforced, api.Degraded, api.Sampled, api.Absent},
		"events":   []api.EventType{api.EventStart, api.EventPhase, api.EventStdout, api.EventStderr, api.EventMetrics, api.EventWarning, api.EventHeartbeat, api.EventResult},
	})
}
