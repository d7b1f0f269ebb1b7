package executor

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// verdict is what a phase's end means.
type verdict struct {
	status  api.Status
	message string
	limit   *api.LimitHit
	// notes are limits that were hit without ending the run.
	notes []string
	// retryable belongs to sandbox_error.
	retryable bool
}

// messageCancelled is that of every cancelled run.
const messageCancelled = "The run was cancelled"

// judge reads the end of a phase. The order is the order of trust: what we did
// ourselves, what the kernel counted, what the language's runtime said. An exit
// code alone never names a limit.
func (ph *phase) judge(out sandbox.Outcome) verdict {
	if v, ok := ph.ended(out); ok {
		return v
	}
	if out.Code >= 124 && fault.Off("verdict", "evidence") {
		return ph.limited(api.StatusMemoryLimit, ph.memoryMessage(), api.LimitHit{})
	}
	if v, ok := ph.kernelSays(out); ok {
		return v
	}
	if out.Code == 0 {
		return verdict{status: api.StatusOK, notes: ph.hits(out)}
	}
	said := ph.lang.Diagnose(ph.name, ph.lastWords())
	if v, ok := ph.wallSays(out, said); ok {
		return v
	}
	if said.OutOfMemory {
		return ph.limited(api.StatusMemoryLimit, ph.memoryMessage(), api.LimitHit{
			Name: api.LimitMemory, Limit: float64(ph.limits.MemoryBytes), Observed: ph.peak(out), Unit: "bytes", Source: api.SourceRuntime})
	}
	return ph.failed(out, said)
}

// ended is for what we ended ourselves.
func (ph *phase) ended(out sandbox.Outcome) (verdict, bool) {
	switch {
	case errors.Is(out.WriteError, errStreamLimit):
		return ph.limited(api.StatusOutputLimit, fmt.Sprintf("Output exceeded the stream limit of %s", sandbox.FormatBytes(ph.streamLimit)), api.LimitHit{
			Name: api.LimitOutput, Limit: float64(ph.streamLimit), Observed: float64(ph.streamLimit), Unit: "bytes", Source: api.SourceRuntime}), true
	case out.Cause == sandbox.CauseCancelled || out.WriteError != nil:
		return verdict{status: api.StatusCancelled, message: messageCancelled}, true
	case out.MemoryKill:
		return ph.limited(api.StatusMemoryLimit, ph.memoryMessage(), api.LimitHit{
			Name: api.LimitMemory, Limit: float64(ph.limits.MemoryBytes), Observed: ph.peak(out), Unit: "bytes", Source: api.SourceSampled}), true
	case out.DiskKill:
		disk := out.Disk
		if b := out.BuildDisk; b.BytesUsed > b.BytesTotal || b.InodesUsed > b.InodesTotal {
			disk = b
		}
		name, used, total, unit := api.LimitDisk, disk.BytesUsed, disk.BytesTotal, "bytes"
		if disk.InodesUsed > disk.InodesTotal {
			name, used, total, unit = api.LimitInodes, disk.InodesUsed, disk.InodesTotal, "files"
		}
		return ph.limited(api.StatusDiskLimit, ph.diskMessage(name, total), api.LimitHit{
			Name: name, Limit: float64(total), Observed: float64(used), Unit: unit, Source: api.SourceSampled}), true
	}
	return verdict{}, false
}

// kernelSays is for what the kernel counted.
func (ph *phase) kernelSays(out sandbox.Outcome) (verdict, bool) {
	cpu, _ := out.Metrics.CPU()
	cpu = max(cpu, out.CPUTime)
	switch {
	case out.OOMKills > 0 && out.HostOOM:
		return verdict{status: api.StatusSandboxError, retryable: true,
			message: "The host ran out of memory, not the program; try again when less is running"}, true
	case out.OOMKills > 0:
		return ph.limited(api.StatusMemoryLimit, ph.memoryMessage(), api.LimitHit{
			Name: api.LimitMemory, Limit: float64(ph.limits.MemoryBytes), Observed: ph.peak(out), Unit: "bytes", Source: api.SourceKernel}), true
	case out.Cause == sandbox.CauseCPUTime,
		ph.limits.CPUTime > 0 && cpu >= ph.limits.CPUTime && (out.Cause == sandbox.CauseNone || out.Signal == sigXCPU): // and not in the grace of another end
		seconds, source := ph.limits.CPUTime.Seconds(), api.SourceKernel
		if _, grouped := strings.CutPrefix(out.Metrics.Sources["cpu_time_s"], "cgroup"); out.Cause == sandbox.CauseCPUTime && !grouped {
			source = api.SourceSampled
		}
		return ph.limited(api.StatusCPULimit, fmt.Sprintf("CPU time limit of %ss exceeded", decimal(seconds)), api.LimitHit{
			Name: api.LimitCPUTime, Limit: seconds, Observed: cpu.Seconds(), Unit: "seconds", Source: source}), true
	case out.Cause == sandbox.CauseWallTime && out.Duration >= ph.limits.WallTime:
		// A program that had ended in time, with a slow reader of its output, is
		// not to blame.
		return ph.timedOut(out), true
	}
	return verdict{}, false
}

// outOfMemory is a phase of which nothing is left but that its memory ran out.
func (ph *phase) outOfMemory() {
	ph.exit.OOMKills = 1
	ph.verdict, _ = ph.kernelSays(sandbox.Outcome{Exit: ph.exit})
}

func (ph *phase) timedOut(out sandbox.Outcome) verdict {
	seconds := ph.limits.WallTime.Seconds()
	message := fmt.Sprintf("Code execution timed out after %ss", decimal(seconds))
	switch ph.name {
	case api.PhaseCompile:
		message = fmt.Sprintf("Compilation timed out after %ss", decimal(seconds))
	case api.PhaseInstall:
		message = fmt.Sprintf("Installation timed out after %ss", decimal(seconds))
	}
	return ph.limited(api.StatusTimeout, message, api.LimitHit{
		Name: api.LimitWallTime, Limit: seconds, Observed: out.Duration.Seconds(), Unit: "seconds", Source: api.SourceKernel})
}

// wallSays is for limits that refuse instead of killing: they end a run only
// with a program that failed, and with the wall seen. Where nothing counts the
// forks that were refused, the runtime's word is all there is.
func (ph *phase) wallSays(out sandbox.Outcome, said language.Diagnosis) (verdict, bool) {
	if name, used, total, full := ph.fullDisk(out); full {
		unit := "bytes"
		if name == api.LimitInodes {
			unit = "files"
		}
		return ph.limited(api.StatusDiskLimit, ph.diskMessage(name, total), api.LimitHit{
			Name: name, Limit: float64(total), Observed: float64(used), Unit: unit, Source: api.SourceKernel}), true
	}
	if total := out.BuildDisk.BytesTotal; ph.name == api.PhaseInstall && said.DiskFull && total > 0 {
		// An installer tidies up when it fails, and its word is good.
		return ph.limited(api.StatusDiskLimit, ph.diskMessage(api.LimitDisk, total), api.LimitHit{
			Name: api.LimitDisk, Limit: float64(total), Observed: float64(total), Unit: "bytes", Source: api.SourceRuntime}), true
	}
	_, counted := strings.CutPrefix(out.Metrics.Sources["processes_peak"], "cgroup")
	if out.ProcessDenials > 0 || said.NoProcesses && !ph.forksCounted && !counted {
		source := api.SourceKernel
		if out.ProcessDenials == 0 {
			source = api.SourceRuntime
		}
		observed := float64(ph.limits.Processes)
		if p := out.Metrics.ProcessesPeak; p != nil {
			observed = float64(*p)
		}
		return ph.limited(api.StatusProcessLimit, fmt.Sprintf("Process limit of %d processes and threads reached", ph.limits.Processes), api.LimitHit{
			Name: api.LimitProcesses, Limit: float64(ph.limits.Processes), Observed: observed, Unit: "processes", Source: source}), true
	}
	return verdict{}, false
}

// fullDisk tells whether a disk of the container has no room left for a block or
// a file.
func (ph *phase) fullDisk(out sandbox.Outcome) (name string, used, total int64, full bool) {
	disks := []sandbox.DiskUsage{out.Disk, ph.diskPeak}
	if ph.name != api.PhaseRun {
		disks = append(disks, out.BuildDisk)
	}
	for _, d := range disks {
		if d.BytesTotal > 0 && d.BytesTotal-d.BytesUsed < max(d.BlockBytes, 1) {
			return api.LimitDisk, d.BytesUsed, d.BytesTotal, true
		}
		if d.InodesTotal > 0 && d.InodesUsed >= d.InodesTotal {
			return api.LimitInodes, d.InodesUsed, d.InodesTotal, true
		}
	}
	return "", 0, 0, false
}

// hits are the limits that a program reached and came to terms with.
func (ph *phase) hits(out sandbox.Outcome) (notes []string) {
	if name, used, total, full := ph.fullDisk(out); full {
		notes = append(notes, fmt.Sprintf("the %s limit was reached (%d of %d)", name, used, total))
	}
	if out.ProcessDenials > 0 {
		notes = append(notes, fmt.Sprintf("the processes limit of %d refused %d forks", ph.limits.Processes, out.ProcessDenials))
	}
	return notes
}

// failed is for a program that ended by itself, and not well.
func (ph *phase) failed(out sandbox.Outcome, said language.Diagnosis) verdict {
	title := ph.lang.Info().Title
	reason := said.Reason
	switch {
	case ph.name == api.PhaseInstall:
		return verdict{status: api.StatusInstallError, message: "Installation failed: " + ph.reason(reason, out)}
	case ph.name == api.PhaseCompile && out.Signal == 0:
		return verdict{status: api.StatusCompileError, message: title + " compile error: " + ph.reason(reason, out)}
	case said.SyntaxError && ph.lang.Info().Name == "python":
		return verdict{status: api.StatusCompileError, message: title + " syntax error: " + ph.reason(reason, out)}
	case said.SyntaxError:
		return verdict{status: api.StatusCompileError, message: title + " compile error: " + ph.reason(reason, out)}
	case out.Signal != 0:
		if reason == "" || reason == lastLine(ph.lastWords()) { // which may be of anything
			reason = "ended by " + signalName(out.Signal)
		}
		return verdict{status: api.StatusSignaled, message: "Execution failed: " + reason}
	}
	return verdict{status: api.StatusRuntimeError, message: "Execution failed: " + ph.reason(reason, out)}
}

func (ph *phase) reason(reason string, out sandbox.Outcome) string {
	if reason == "" {
		reason = lastLine(ph.lastWords())
	}
	if reason == "" {
		reason = fmt.Sprintf("exit code %d", out.Code)
	}
	return reason
}

func (ph *phase) limited(status api.Status, message string, hit api.LimitHit) verdict {
	hit.Phase = ph.name
	return verdict{status: status, message: message, limit: &hit}
}

func (ph *phase) memoryMessage() string {
	return fmt.Sprintf("Memory limit of %s exceeded", sandbox.FormatBytes(ph.limits.MemoryBytes))
}

func (ph *phase) diskMessage(name string, total int64) string {
	if name == api.LimitInodes {
		return fmt.Sprintf("File limit of %d files reached", total)
	}
	return fmt.Sprintf("Disk limit of %s reached", sandbox.FormatBytes(total))
}

// peak is the most memory that was seen, in bytes.
func (ph *phase) peak(out sandbox.Outcome) float64 {
	if p := cmp.Or(ph.metrics.MemoryPeakBytes, out.Metrics.MemoryPeakBytes); p != nil {
		return float64(*p)
	}
	return 0
}

// lastLine is the last line that is not blank.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return shortReason(strings.TrimSpace(lines[len(lines)-1]))
}

// maxReason bounds what a message quotes, in characters.
const maxReason = 300

// shortReason is as much of a text as a message quotes.
func shortReason(text string) string {
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason-1]) + "…"
	}
	return text
}
