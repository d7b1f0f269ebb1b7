package api

// Status says how a run, or one phase of it, ended.
type Status string

// The closed set of statuses. Every status but [StatusSandboxError] describes
// the program; [StatusSandboxError] alone describes us.
const (
	StatusOK            Status = "ok"
	StatusRuntimeError  Status = "runtime_error"  // ended with a non-zero code
	StatusCompileError  Status = "compile_error"  // the compiler, or the interpreter's parser, refused the source
	StatusInstallError  Status = "install_error"  // a package could not be installed
	StatusSignaled      Status = "signaled"       // ended by a signal that was none of ours
	StatusTimeout       Status = "timeout"        // wall clock
	StatusCPULimit      Status = "cpu_limit"      // CPU time
	StatusMemoryLimit   Status = "memory_limit"   // memory, swap included
	StatusOutputLimit   Status = "output_limit"   // the stream ceiling
	StatusDiskLimit     Status = "disk_limit"     // bytes or inodes of the workspace
	StatusProcessLimit  Status = "process_limit"  // processes and threads
	StatusPolicyBlocked Status = "policy_blocked" // an import or code policy said no
	StatusCancelled     Status = "cancelled"      // the caller went away or asked
	StatusSandboxError  Status = "sandbox_error"  // ours, never the program's
)

// The names of the phases of a run, in the order in which they happen.
const (
	PhaseInstall = "install"
	PhaseCompile = "compile"
	PhaseRun     = "run"
)

// The names that [LimitHit.Name] takes.
const (
	LimitWallTime  = "wall_time"
	LimitCPUTime   = "cpu_time"
	LimitMemory    = "memory"
	LimitOutput    = "output"
	LimitDisk      = "disk"
	LimitInodes    = "inodes"
	LimitProcesses = "processes"
	LimitOpenFiles = "open_files"
)

// Who said that a limit was reached; see [LimitHit.Source].
const (
	SourceKernel  = "kernel"  // the kernel's own event or counter
	SourceRuntime = "runtime" // the language runtime's own word
	SourceSampled = "sampled" // our monitor's sample
)

// How far a mechanism or a limit is in force; see [Meta.Isolation].
const (
	Enforced = "enforced" // the kernel holds it without exception
	Degraded = "degraded" // in force, with a weakness that is named
	Sampled  = "sampled"  // watched by us and enforced late
	Absent   = "absent"   // not in force
)
