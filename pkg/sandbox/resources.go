package sandbox

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Limits bind one process and everything that it starts. A zero value means
// that the limit is not asked for; callers that face users fill in every one.
type Limits struct {
	// WallTime ends the run; held by [Manager].
	WallTime time.Duration
	// CPUTime is user and system time of the whole tree; held by [Manager].
	CPUTime time.Duration
	// CPUs is how many cores' worth of time the tree gets, e.g. 0.5 or 2.
	CPUs float64
	// MemoryBytes bounds memory and swap together, files on tmpfs included.
	MemoryBytes int64
	// Processes bounds processes and threads together.
	Processes int64
	// OpenFiles bounds the descriptors of each process.
	OpenFiles int64
	// FileSizeBytes bounds one file; zero leaves it to the disk limit.
	FileSizeBytes int64
	// Strict names limits (by the names of [api.ResourceLimits.Enforcement])
	// that were asked for by name: if the runtime cannot hold one, Start fails.
	Strict []string
}

// The names of limits, as keys of [Isolation.Limits].
const (
	LimitWallTime  = "wall_time"
	LimitCPUTime   = "cpu_time"
	LimitCPUs      = "cpu"
	LimitMemory    = "memory"
	LimitDisk      = "disk"
	LimitInodes    = "inodes"
	LimitProcesses = "processes"
	LimitOpenFiles = "open_files"
)

// The smallest limits that make sense: below them not even the smallest
// program starts, and the error says so instead of a riddle from the kernel.
const (
	// MinMemoryBytes is what a C program that does nothing needs with its
	// loader, page tables and kernel stacks, with room for the kernel's
	// per-cpu charge batches (64 pages a core).
	MinMemoryBytes = 4 << 20
	// MinProcesses is the program alone.
	MinProcesses = 1
	// MinOpenFiles leaves room for the standard streams, the loader and one
	// file.
	MinOpenFiles = 8
	// MinDiskBytes is sixteen pages.
	MinDiskBytes = 64 << 10
	// MaxWallTime and MaxBytes catch absurd values before they overflow
	// somewhere: a year, and an exbibyte.
	MaxWallTime = 365 * 24 * time.Hour
	MaxBytes    = 1 << 60
)

// RangeError is a limit that is negative, absurd or too small.
type RangeError struct {
	// Limit is the name of the limit, such as [LimitMemory].
	Limit string
	// Detail is one sentence.
	Detail string
}

func (e *RangeError) Error() string { return e.Detail }

// Validate refuses limits that are negative, absurd or too small to start
// anything, with a [*RangeError]. A zero is not asked for and passes.
func (l Limits) Validate() error {
	checks := []struct {
		limit, name   string
		value, lo, hi float64
		text          func(float64) string
	}{
		{LimitWallTime, "wall time", l.WallTime.Seconds(), 0.001, MaxWallTime.Seconds(), seconds},
		{LimitCPUTime, "CPU time", l.CPUTime.Seconds(), 0.001, MaxWallTime.Seconds(), seconds},
		{LimitCPUs, "CPUs", l.CPUs, 0.01, 4096, plain},
		{LimitMemory, "memory", float64(l.MemoryBytes), MinMemoryBytes, MaxBytes, size},
		{LimitProcesses, "processes", float64(l.Processes), MinProcesses, 4 << 20, plain},
		{LimitOpenFiles, "open files", float64(l.OpenFiles), MinOpenFiles, 1 << 20, plain},
		{LimitDisk, "file size", float64(l.FileSizeBytes), 1, MaxBytes, size},
	}
	for _, c := range checks {
		if c.value == 0 {
			continue
		}
		if !(c.value >= c.lo && c.value <= c.hi) { // also refuses NaN
			return &RangeError{c.limit, fmt.Sprintf("%s limit %s is out of range: at least %s, at most %s",
				c.name, c.text(c.value), c.text(c.lo), c.text(c.hi))}
		}
	}
	return nil
}

func seconds(x float64) string { return plain(x) + " s" }

// size is exact where rounding could make a bad size look like a good one.
func size(x float64) string {
	if math.Mod(x, 1<<20) != 0 {
		return plain(x) + " bytes"
	}
	return FormatBytes(int64(x))
}

// plain writes a number without an exponent, as people do.
func plain(x float64) string {
	if x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64) // every digit of a large one
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Metrics are figures of a process tree. Each one is nil when it cannot be had.
type Metrics struct {
	CPUUser         *time.Duration
	CPUSystem       *time.Duration
	MemoryPeakBytes *int64
	MemoryBytes     *int64 // now; of a live tree
	IOReadBytes     *int64
	IOWriteBytes    *int64
	ProcessesPeak   *int64
	Processes       *int64 // now; of a live tree
	PageFaults      *int64
	ContextSwitches *int64
	// Sources maps a field of [api.Metrics] to cgroup2, cgroup1, rusage or
	// runtime.
	Sources map[string]string
}

// CPU is user and system time together, or false when neither is known.
func (m Metrics) CPU() (time.Duration, bool) {
	if m.CPUUser == nil || m.CPUSystem == nil {
		return 0, false
	}
	return *m.CPUUser + *m.CPUSystem, true
}
