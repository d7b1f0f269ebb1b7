package executor

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

var (
	judgedLimits = sandbox.Limits{WallTime: 1500 * time.Millisecond, CPUTime: 2 * time.Second, MemoryBytes: 64 << 20, Processes: 8}
	fullDisk     = sandbox.DiskUsage{BytesUsed: 1 << 20, BytesTotal: 1<<20 + 4095, InodesUsed: 3, InodesTotal: 256, BlockBytes: 4096}
	noInodes     = sandbox.DiskUsage{BytesUsed: 4096, BytesTotal: 1 << 20, InodesUsed: 256, InodesTotal: 256, BlockBytes: 4096}
	roomyDisk    = sandbox.DiskUsage{BytesUsed: 1<<20 - 4096, BytesTotal: 1 << 20, InodesUsed: 255, InodesTotal: 256, BlockBytes: 4096}
	overDisk     = sandbox.DiskUsage{BytesUsed: 3 << 20, BytesTotal: 1 << 20, InodesUsed: 1, InodesTotal: 256}
	overInodes   = sandbox.DiskUsage{BytesUsed: 4096, BytesTotal: 1 << 20, InodesUsed: 257, InodesTotal: 256}
	// Kernels for arm64 may have pages of 64 KiB.
	fullOf64K = sandbox.DiskUsage{BytesUsed: 1<<20 - 65535, BytesTotal: 1 << 20, BlockBytes: 65536}
	roomy64K  = sandbox.DiskUsage{BytesUsed: 1<<20 - 65536, BytesTotal: 1 << 20, BlockBytes: 65536}
	// A limit that is counted and not a file system's has no blocks.
	fullCount  = sandbox.DiskUsage{BytesUsed: 1 << 20, BytesTotal: 1 << 20}
	roomyCount = sandbox.DiskUsage{BytesUsed: 1<<20 - 1, BytesTotal: 1 << 20}
)

func pointer[T any](v T) *T { return &v }

// judged is a phase that has ended, with what it wrote to standard error.
func judged(name, title string, said language.Diagnosis, stderr string) *phase {
	ph := &phase{
		name: name, limits: judgedLimits, streamLimit: 64 << 20,
		lang:   fakeLanguage{info: language.Info{Name: strings.ToLower(title), Title: title}, diagnosis: said},
		stdout: newCapture(api.EventStdout, nil, 1000, 0), stderr: newCapture(api.EventStderr, nil, 1000, 0),
	}
	_, _ = ph.stderr.Write([]byte(stderr))
	return ph
}

var (
	judgedCPU     = sandbox.Metrics{CPUUser: pointer(time.Second), CPUSystem: pointer(1100 * time.Millisecond)}
	judgedMemory  = sandbox.Metrics{MemoryPeakBytes: pointer(int64(63 << 20))}
	tooMuchMemory = "Memory limit of 64 MiB exceeded"
)

func memoryHit(phase, source string, observed float64) *api.LimitHit {
	return &api.LimitHit{Name: "memory", Limit: 64 << 20, Observed: observed, Unit: "bytes", Phase: phase, Source: source}
}

// judgement is an end and what it means.
type judgement struct {
	name    string
	phase   string // run when empty
	title   string // Python when empty
	exit    sandbox.Exit
	cause   sandbox.Cause
	said    language.Diagnosis
	stderr  string
	status  api.Status
	message string
	limit   *api.LimitHit
	notes   []string
}

var judgements = []judgement{
	{name: "ended well", status: api.StatusOK},
	{name: "ended badly", exit: sandbox.Exit{Code: 3}, status: api.StatusRuntimeError, message: "Execution failed: exit code 3"},
	{name: "the last line", exit: sandbox.Exit{Code: 1}, stderr: "a\nb\n\n", status: api.StatusRuntimeError, message: "Execution failed: b"},
	{name: "the language's word", exit: sandbox.Exit{Code: 1}, stderr: "noise", said: language.Diagnosis{Reason: "ValueError: x"},
		status: api.StatusRuntimeError, message: "Execution failed: ValueError: x"},
	{name: "Python syntax", exit: sandbox.Exit{Code: 1}, said: language.Diagnosis{Reason: "invalid syntax", SyntaxError: true},
		status: api.StatusCompileError, message: "Python syntax error: invalid syntax"},
	{name: "another parser", title: "JavaScript", exit: sandbox.Exit{Code: 1}, said: language.Diagnosis{Reason: "x", SyntaxError: true},
		status: api.StatusCompileError, message: "JavaScript compile error: x"},
	{name: "compiler", phase: api.PhaseCompile, title: "Go", exit: sandbox.Exit{Code: 1}, said: language.Diagnosis{Reason: "undefined: x"},
		status: api.StatusCompileError, message: "Go compile error: undefined: x"},
	{name: "a compiler that crashes", phase: api.PhaseCompile, title: "Rust", exit: sandbox.Exit{Code: 139, Signal: 11},
		status: api.StatusSignaled, message: "Execution failed: ended by SIGSEGV"},
	{name: "installer", phase: api.PhaseInstall, exit: sandbox.Exit{Code: 1}, stderr: "no such package",
		status: api.StatusInstallError, message: "Installation failed: no such package"},
	{name: "a program that kills itself", exit: sandbox.Exit{Code: 137, Signal: 9}, status: api.StatusSignaled, message: "Execution failed: ended by SIGKILL"},
	{name: "a program that says why", exit: sandbox.Exit{Code: 134, Signal: 6}, stderr: "noise", said: language.Diagnosis{Reason: "too bad"},
		status: api.StatusSignaled, message: "Execution failed: too bad"},
	{name: "an exit code names no limit", exit: sandbox.Exit{Code: 137}, status: api.StatusRuntimeError, message: "Execution failed: exit code 137"},
	{name: "XCPU without a limit reached", exit: sandbox.Exit{Code: 152, Signal: sigXCPU}, status: api.StatusSignaled, message: "Execution failed: ended by SIGXCPU"},

	{name: "output", exit: sandbox.Exit{Code: 137, Signal: 9, WriteError: errStreamLimit}, status: api.StatusOutputLimit,
		message: "Output exceeded the stream limit of 64 MiB",
		limit:   &api.LimitHit{Name: "output", Limit: 64 << 20, Observed: 64 << 20, Unit: "bytes", Phase: "run", Source: "runtime"}},
	{name: "the reader went away", exit: sandbox.Exit{WriteError: errors.New("gone")}, status: api.StatusCancelled, message: "The run was cancelled"},
	{name: "cancelled", cause: sandbox.CauseCancelled, exit: sandbox.Exit{Code: 143, Signal: 15}, status: api.StatusCancelled, message: "The run was cancelled"},
	{name: "cancelled, though it ended well", cause: sandbox.CauseCancelled, status: api.StatusCancelled, message: "The run was cancelled"},

	{name: "the kernel's memory", exit: sandbox.Exit{Code: 137, Signal: 9, OOMKills: 1, Metrics: judgedMemory}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "kernel", 63<<20)},
	{name: "the kernel's memory in a child", exit: sandbox.Exit{OOMKills: 2}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "kernel", 0)},
	{name: "the host's memory", exit: sandbox.Exit{Code: 137, Signal: 9, OOMKills: 1, HostOOM: true}, status: api.StatusSandboxError,
		message: "The host ran out of memory, not the program; try again when less is running"},
	{name: "the sampler's memory", exit: sandbox.Exit{Code: 137, Signal: 9, MemoryKill: true, Metrics: judgedMemory}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "sampled", 63<<20)},
	{name: "the runtime's memory", exit: sandbox.Exit{Code: 1}, said: language.Diagnosis{OutOfMemory: true, Reason: "MemoryError"},
		status: api.StatusMemoryLimit, message: tooMuchMemory, limit: memoryHit("run", "runtime", 0)},
	{name: "the compiler's memory", phase: api.PhaseCompile, exit: sandbox.Exit{Code: 1, OOMKills: 1}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("compile", "kernel", 0)},

	{name: "CPU time by the group's clock", cause: sandbox.CauseCPUTime, exit: sandbox.Exit{Code: 143, Signal: 15, Metrics: readFrom(judgedCPU, "cgroup1")}, status: api.StatusCPULimit,
		message: "CPU time limit of 2s exceeded",
		limit:   &api.LimitHit{Name: "cpu_time", Limit: 2, Observed: 2.1, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "CPU time by a sample", cause: sandbox.CauseCPUTime, exit: sandbox.Exit{Code: 143, Signal: 15, Metrics: readFrom(judgedCPU, "rusage")}, status: api.StatusCPULimit,
		message: "CPU time limit of 2s exceeded",
		limit:   &api.LimitHit{Name: "cpu_time", Limit: 2, Observed: 2.1, Unit: "seconds", Phase: "run", Source: "sampled"}},
	{name: "CPU time seen at the end", exit: sandbox.Exit{Metrics: readFrom(judgedCPU, "cgroup2")}, status: api.StatusCPULimit,
		message: "CPU time limit of 2s exceeded",
		limit:   &api.LimitHit{Name: "cpu_time", Limit: 2, Observed: 2.1, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "wall, with CPU time used up in the grace", cause: sandbox.CauseWallTime, exit: sandbox.Exit{Code: 137, Signal: 9, Duration: 1600 * time.Millisecond, Metrics: judgedCPU}, status: api.StatusTimeout,
		message: "Code execution timed out after 1.5s",
		limit:   &api.LimitHit{Name: "wall_time", Limit: 1.5, Observed: 1.6, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "XCPU", exit: sandbox.Exit{Code: 152, Signal: sigXCPU, Metrics: judgedCPU}, status: api.StatusCPULimit, message: "CPU time limit of 2s exceeded",
		limit: &api.LimitHit{Name: "cpu_time", Limit: 2, Observed: 2.1, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "wall", cause: sandbox.CauseWallTime, exit: sandbox.Exit{Code: 143, Signal: 15, Duration: 1600 * time.Millisecond}, status: api.StatusTimeout,
		message: "Code execution timed out after 1.5s",
		limit:   &api.LimitHit{Name: "wall_time", Limit: 1.5, Observed: 1.6, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "compile wall", phase: api.PhaseCompile, cause: sandbox.CauseWallTime, exit: sandbox.Exit{Duration: 1500 * time.Millisecond}, status: api.StatusTimeout, message: "Compilation timed out after 1.5s",
		limit: &api.LimitHit{Name: "wall_time", Limit: 1.5, Observed: 1.5, Unit: "seconds", Phase: "compile", Source: "kernel"}},
	{name: "install wall", phase: api.PhaseInstall, cause: sandbox.CauseWallTime, exit: sandbox.Exit{Duration: 1500 * time.Millisecond}, status: api.StatusTimeout, message: "Installation timed out after 1.5s",
		limit: &api.LimitHit{Name: "wall_time", Limit: 1.5, Observed: 1.5, Unit: "seconds", Phase: "install", Source: "kernel"}},

	{name: "disk", exit: sandbox.Exit{Code: 1, Disk: fullDisk}, status: api.StatusDiskLimit, message: "Disk limit of 1 MiB reached",
		limit: &api.LimitHit{Name: "disk", Limit: 1<<20 + 4095, Observed: 1 << 20, Unit: "bytes", Phase: "run", Source: "kernel"}},
	{name: "inodes", exit: sandbox.Exit{Code: 1, Disk: noInodes}, status: api.StatusDiskLimit, message: "File limit of 256 files reached",
		limit: &api.LimitHit{Name: "inodes", Limit: 256, Observed: 256, Unit: "files", Phase: "run", Source: "kernel"}},
	{name: "the runtime's word of the disk alone", exit: sandbox.Exit{Code: 1, Disk: roomyDisk}, said: language.Diagnosis{DiskFull: true}, status: api.StatusRuntimeError, message: "Execution failed: exit code 1"},
	{name: "ended in time behind a slow reader", cause: sandbox.CauseWallTime, exit: sandbox.Exit{Code: 3, Duration: time.Second}, status: api.StatusRuntimeError, message: "Execution failed: exit code 3"},
	{name: "a page is left", exit: sandbox.Exit{Code: 1, Disk: roomyDisk}, status: api.StatusRuntimeError, message: "Execution failed: exit code 1"},
	{name: "full, and came to terms", exit: sandbox.Exit{Disk: fullDisk}, status: api.StatusOK, notes: []string{"the disk limit was reached (1048576 of 1052671)"}},
	{name: "less than a large page is left, and came to terms", exit: sandbox.Exit{Disk: fullOf64K}, status: api.StatusOK, notes: []string{"the disk limit was reached (983041 of 1048576)"}},
	{name: "a large page is left", exit: sandbox.Exit{Disk: roomy64K}, status: api.StatusOK},
	{name: "a count that is reached", exit: sandbox.Exit{Disk: fullCount}, status: api.StatusOK, notes: []string{"the disk limit was reached (1048576 of 1048576)"}},
	{name: "a count that is not", exit: sandbox.Exit{Disk: roomyCount}, status: api.StatusOK},
	{name: "the build disk in the run", exit: sandbox.Exit{Code: 1, BuildDisk: fullDisk}, status: api.StatusRuntimeError, message: "Execution failed: exit code 1"},
	{name: "the build disk", phase: api.PhaseCompile, exit: sandbox.Exit{Code: 1, BuildDisk: fullDisk}, status: api.StatusDiskLimit, message: "Disk limit of 1 MiB reached",
		limit: &api.LimitHit{Name: "disk", Limit: 1<<20 + 4095, Observed: 1 << 20, Unit: "bytes", Phase: "compile", Source: "kernel"}},

	{name: "the sampler's disk", exit: sandbox.Exit{Code: 137, Signal: 9, DiskKill: true, Disk: overDisk}, status: api.StatusDiskLimit, message: "Disk limit of 1 MiB reached",
		limit: &api.LimitHit{Name: "disk", Limit: 1 << 20, Observed: 3 << 20, Unit: "bytes", Phase: "run", Source: "sampled"}},
	{name: "the sampler's files", exit: sandbox.Exit{Code: 137, Signal: 9, DiskKill: true, Disk: overInodes}, status: api.StatusDiskLimit, message: "File limit of 256 files reached",
		limit: &api.LimitHit{Name: "inodes", Limit: 256, Observed: 257, Unit: "files", Phase: "run", Source: "sampled"}},
	{name: "the sampler's build disk", phase: api.PhaseCompile, exit: sandbox.Exit{Code: 137, Signal: 9, DiskKill: true, Disk: roomyDisk, BuildDisk: overDisk}, status: api.StatusDiskLimit, message: "Disk limit of 1 MiB reached",
		limit: &api.LimitHit{Name: "disk", Limit: 1 << 20, Observed: 3 << 20, Unit: "bytes", Phase: "compile", Source: "sampled"}},

	{name: "processes", exit: sandbox.Exit{Code: 1, ProcessDenials: 4, Metrics: sandbox.Metrics{ProcessesPeak: pointer(int64(7))}}, status: api.StatusProcessLimit,
		message: "Process limit of 8 processes and threads reached",
		limit:   &api.LimitHit{Name: "processes", Limit: 8, Observed: 7, Unit: "processes", Phase: "run", Source: "kernel"}},
	{name: "the runtime's processes", exit: sandbox.Exit{Code: 1}, said: language.Diagnosis{NoProcesses: true}, status: api.StatusProcessLimit,
		message: "Process limit of 8 processes and threads reached",
		limit:   &api.LimitHit{Name: "processes", Limit: 8, Observed: 8, Unit: "processes", Phase: "run", Source: "runtime"}},
	{name: "denied, and came to terms", exit: sandbox.Exit{ProcessDenials: 4}, status: api.StatusOK, notes: []string{"the processes limit of 8 refused 4 forks"}},

	// The order of trust.
	{name: "output before memory", exit: sandbox.Exit{WriteError: errStreamLimit, OOMKills: 1}, status: api.StatusOutputLimit,
		message: "Output exceeded the stream limit of 64 MiB",
		limit:   &api.LimitHit{Name: "output", Limit: 64 << 20, Observed: 64 << 20, Unit: "bytes", Phase: "run", Source: "runtime"}},
	{name: "memory before CPU", cause: sandbox.CauseCPUTime, exit: sandbox.Exit{OOMKills: 1}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "kernel", 0)},
	{name: "memory before wall", cause: sandbox.CauseWallTime, exit: sandbox.Exit{OOMKills: 1}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "kernel", 0)},
	{name: "the kernel before the runtime", exit: sandbox.Exit{Code: 1, OOMKills: 1}, said: language.Diagnosis{OutOfMemory: true}, status: api.StatusMemoryLimit,
		message: tooMuchMemory, limit: memoryHit("run", "kernel", 0)},
	{name: "wall before disk", cause: sandbox.CauseWallTime, exit: sandbox.Exit{Code: 1, Disk: fullDisk, Duration: 1500 * time.Millisecond}, status: api.StatusTimeout,
		message: "Code execution timed out after 1.5s", limit: &api.LimitHit{Name: "wall_time", Limit: 1.5, Observed: 1.5, Unit: "seconds", Phase: "run", Source: "kernel"}},
	{name: "disk before the runtime's memory", exit: sandbox.Exit{Code: 1, Disk: noInodes}, said: language.Diagnosis{OutOfMemory: true}, status: api.StatusDiskLimit,
		message: "File limit of 256 files reached",
		limit:   &api.LimitHit{Name: "inodes", Limit: 256, Observed: 256, Unit: "files", Phase: "run", Source: "kernel"}},
	{name: "a word is nothing when all went well", said: language.Diagnosis{OutOfMemory: true, DiskFull: true, NoProcesses: true, SyntaxError: true}, status: api.StatusOK},
}

func TestJudge(t *testing.T) {
	for _, tc := range judgements {
		t.Run(tc.name, func(t *testing.T) {
			phaseName, title := tc.phase, tc.title
			if phaseName == "" {
				phaseName = api.PhaseRun
			}
			if title == "" {
				title = "Python"
			}
			got := judged(phaseName, title, tc.said, tc.stderr).judge(sandbox.Outcome{Exit: tc.exit, Cause: tc.cause})
			if got.status != tc.status || got.message != tc.message {
				t.Errorf("%s: %q, want %s: %q", got.status, got.message, tc.status, tc.message)
			}
			if diff := cmp.Diff(tc.limit, got.limit); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.notes, got.notes); diff != "" {
				t.Error(diff)
			}
			if got.retryable != (tc.exit.HostOOM) {
				t.Errorf("retryable %v", got.retryable)
			}
		})
	}
}

// What was full in between counts, when the program failed.
func TestJudgeRemembersTheFullestDisk(t *testing.T) {
	ph := judged(api.PhaseRun, "Python", language.Diagnosis{}, "")
	ph.diskPeak = fullDisk
	if got := ph.judge(sandbox.Outcome{Exit: sandbox.Exit{Code: 1, Disk: roomyDisk}}); got.status != api.StatusDiskLimit {
		t.Errorf("status %s", got.status)
	}
}

func TestLastWords(t *testing.T) {
	for _, tc := range []struct{ phase, stdout, stderr, want string }{
		{api.PhaseCompile, "main.ts: error", " \n", "main.ts: error"},
		{api.PhaseCompile, "out", "err", "err"},
		{api.PhaseRun, "out", "", ""},
	} {
		ph := judged(tc.phase, "Go", language.Diagnosis{}, tc.stderr)
		_, _ = ph.stdout.Write([]byte(tc.stdout))
		if got := ph.lastWords(); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "\n \n": "", "a": "a", "a\nb\r\n\n": "b", "  x  ": "x",
	} {
		if got := lastLine(in); got != want {
			t.Errorf("lastLine(%q) = %q, want %q", in, got, want)
		}
	}
	long := lastLine(strings.Repeat("é", 1000))
	if utf8.RuneCountInString(long) != maxReason || !strings.HasSuffix(long, "é…") {
		t.Errorf("%d characters: %q", utf8.RuneCountInString(long), long)
	}
	if whole := strings.Repeat("é", maxReason); lastLine(whole) != whole {
		t.Error("a line that fits was cut")
	}
}

// readFrom are metrics whose CPU time was read from source.
func readFrom(m sandbox.Metrics, source string) sandbox.Metrics {
	m.Sources = map[string]string{"cpu_time_s": source}
	return m
}
