package executor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// DefaultConfig has the defaults of both programs, and the ceiling of 300 s that
// sandbox-server has.
func DefaultConfig() Config {
	return Config{
		Defaults: sandbox.Limits{
			WallTime:    33 * time.Second,
			MemoryBytes: 512 << 20,
			CPUs:        1,
			Processes:   128,
			OpenFiles:   256,
		},
		Ceilings:         sandbox.Limits{WallTime: 300 * time.Second},
		DefaultDiskBytes: 256 << 20,
		Compile: sandbox.Limits{
			WallTime:    60 * time.Second,
			MemoryBytes: 2 << 30,
			CPUs:        float64(runtime.NumCPU()),
			Processes:   1024,
			OpenFiles:   4096,
		},
		CompileDiskBytes: 1 << 30,
		InstallTimeout:   120 * time.Second,
		MaxOutputBytes:   20 << 10,
		MaxStreamBytes:   64 << 20,
	}
}

// bytesPerInode sizes the inode limit from the byte limit: one file for each
// page of disk is more than any honest tree has.
const bytesPerInode = 4096

func diskLimit(bytes int64) sandbox.DiskLimit {
	return sandbox.DiskLimit{Bytes: bytes, Inodes: max(bytes/bytesPerInode, 64)}
}

// limits are the run's, with the defaults filled in.
func (e *Executor) limits(req Request) (sandbox.Limits, error) {
	l, d := req.Limits, e.defaults()
	if l.WallTime == 0 {
		l.WallTime = d.WallTime
	}
	if l.CPUTime == 0 {
		l.CPUTime = d.CPUTime
	}
	if l.CPUs == 0 {
		l.CPUs = min(d.CPUs, float64(runtime.NumCPU()))
	}
	if l.MemoryBytes == 0 {
		l.MemoryBytes = d.MemoryBytes
	}
	if l.Processes == 0 {
		l.Processes = d.Processes
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = d.OpenFiles
	}
	var outOfRange *sandbox.RangeError
	if errors.As(l.Validate(), &outOfRange) {
		return l, &InputError{Kind: InputInvalid, Field: limitPointers[outOfRange.Limit], Detail: outOfRange.Detail}
	}
	return l, e.belowCeilings(l)
}

// limitPointers are the JSON pointers of limits in a request.
var limitPointers = map[string]string{
	sandbox.LimitWallTime:  "/timeout_seconds",
	sandbox.LimitCPUTime:   "/limits/cpu_seconds",
	sandbox.LimitCPUs:      "/limits/cpu_cores",
	sandbox.LimitMemory:    "/limits/memory_mb",
	sandbox.LimitDisk:      "/limits/disk_mb",
	sandbox.LimitProcesses: "/limits/processes",
	sandbox.LimitOpenFiles: "/limits/open_files",
}

// checkStrict refuses a limit that was asked for by name and that nothing holds.
func (r *run) checkStrict(c sandbox.Container) error {
	for _, name := range r.limits.Strict {
		one := r.limits
		one.Strict = []string{name}
		if err := c.Isolation().CheckStrict(one); err != nil {
			return &InputError{Kind: InputUnsupported, Field: limitPointers[name], Detail: err.Error()}
		}
	}
	return nil
}

// defaults are the configured ones, lowered to a ceiling that is below.
func (e *Executor) defaults() sandbox.Limits {
	d, c := e.cfg.Defaults, e.cfg.Ceilings
	d.WallTime, d.CPUTime = under(d.WallTime, c.WallTime), under(d.CPUTime, c.CPUTime)
	d.CPUs, d.MemoryBytes = under(d.CPUs, c.CPUs), under(d.MemoryBytes, c.MemoryBytes)
	d.Processes, d.OpenFiles = under(d.Processes, c.Processes), under(d.OpenFiles, c.OpenFiles)
	return d
}

// under is a value, or its ceiling if there is one below it.
func under[T cmp.Ordered](value, ceiling T) T {
	var none T
	if ceiling > none && value > ceiling {
		return ceiling
	}
	return value
}

func (e *Executor) belowCeilings(l sandbox.Limits) error {
	c := e.cfg.Ceilings
	for _, x := range []struct {
		limit, name string
		asked, most float64
		unit        string
	}{
		{sandbox.LimitWallTime, "timeout", l.WallTime.Seconds(), c.WallTime.Seconds(), "s"},
		{sandbox.LimitCPUTime, "CPU time", l.CPUTime.Seconds(), c.CPUTime.Seconds(), "s"},
		{sandbox.LimitMemory, "memory", float64(l.MemoryBytes) / (1 << 20), float64(c.MemoryBytes) / (1 << 20), " MiB"},
		{sandbox.LimitCPUs, "CPUs", l.CPUs, c.CPUs, ""},
		{sandbox.LimitProcesses, "processes", float64(l.Processes), float64(c.Processes), ""},
		{sandbox.LimitOpenFiles, "open files", float64(l.OpenFiles), float64(c.OpenFiles), ""},
	} {
		if x.most > 0 && x.asked > x.most {
			return &InputError{Kind: InputInvalid, Field: limitPointers[x.limit], Detail: fmt.Sprintf(
				"%s of %s%s is over the ceiling of %s%s that this installation allows", x.name, decimal(x.asked), x.unit, decimal(x.most), x.unit)}
		}
	}
	return nil
}

// checkBounds refuses what is no limit of the run phase and yet no number that
// can be meant. A zero is not asked for and passes.
func (e *Executor) checkBounds(req Request) error {
	if n, most := req.MaxOutputBytes, e.cfg.OutputCeilingBytes; most > 0 && n > most {
		return &InputError{Kind: InputInvalid, Field: "/limits/output_kb", Detail: fmt.Sprintf(
			"%s of output to keep are over the ceiling of %s that this installation allows", sandbox.FormatBytes(n), sandbox.FormatBytes(most))}
	}
	if n := req.MaxOutputBytes; n < 0 || n > sandbox.MaxBytes {
		return &InputError{Kind: InputInvalid, Field: "/limits/output_kb", Detail: fmt.Sprintf(
			"%d bytes of output to keep are out of range: at least 1, at most %d", n, int64(sandbox.MaxBytes))}
	}
	if d := req.CompileTimeout; d != 0 && (d < time.Millisecond || d > sandbox.MaxWallTime) {
		return &InputError{Kind: InputInvalid, Field: "/limits", Detail: fmt.Sprintf(
			"compile timeout %s is out of range: at least 1ms, at most %s", d, time.Duration(sandbox.MaxWallTime))}
	}
	return nil
}

// disk is the workspace's limit.
func (e *Executor) disk(req Request) (sandbox.DiskLimit, error) {
	bytes := req.DiskBytes
	if bytes == 0 {
		bytes = under(e.cfg.DefaultDiskBytes, e.cfg.MaxDiskBytes)
	}
	switch {
	case bytes < sandbox.MinDiskBytes || bytes > sandbox.MaxBytes:
		return sandbox.DiskLimit{}, &InputError{Kind: InputInvalid, Field: "/limits/disk_mb", Detail: fmt.Sprintf(
			"disk limit %d bytes is out of range: at least %s, at most %s", bytes, sandbox.FormatBytes(sandbox.MinDiskBytes), sandbox.FormatBytes(sandbox.MaxBytes))}
	case e.cfg.MaxDiskBytes > 0 && bytes > e.cfg.MaxDiskBytes:
		return sandbox.DiskLimit{}, &InputError{Kind: InputInvalid, Field: "/limits/disk_mb", Detail: fmt.Sprintf(
			"disk limit %s is over the ceiling of %s that this installation allows", sandbox.FormatBytes(bytes), sandbox.FormatBytes(e.cfg.MaxDiskBytes))}
	}
	return diskLimit(bytes), nil
}

// decimal is the shortest decimal of a number: 1, 0.5, 90.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64) }
