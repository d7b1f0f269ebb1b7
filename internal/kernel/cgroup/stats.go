package cgroup

// Source is where a figure was read, by the names of the wire format.
type Source string

// The sources of figures.
const (
	Version1 Source = "cgroup1"
	Version2 Source = "cgroup2"
)

// Figure is one number that the kernel counted. The zero value is a figure that
// cannot be had.
type Figure struct {
	Value  int64
	Source Source // empty when the figure cannot be had
}

// Known tells whether the figure could be had.
func (f Figure) Known() bool { return f.Source != "" }

// Pointer is the number, or nil when it cannot be had.
func (f Figure) Pointer() *int64 {
	if !f.Known() {
		return nil
	}
	return &f.Value
}

// Stats are the figures of a group, of all the processes that it ever had.
type Stats struct {
	// MemoryBytes is what is charged now: anonymous memory, kernel memory,
	// files on tmpfs, and page cache that this group was the first to read.
	MemoryBytes Figure
	// MemoryPeakBytes is the most that was ever charged, page cache included.
	// Version 2 knows it since Linux 5.19.
	MemoryPeakBytes Figure
	// PageFaults are minor and major ones together.
	PageFaults Figure

	// CPUUser and CPUSystem are nanoseconds.
	CPUUser, CPUSystem Figure

	// Processes and ProcessesPeak count threads too, and zombies until they are
	// reaped. The peak is known since Linux 6.1.
	Processes, ProcessesPeak Figure

	// IOReadBytes and IOWriteBytes went to block devices. Where devices are
	// stacked, such as encryption over a disk, each layer counts.
	IOReadBytes, IOWriteBytes Figure

	// OOMKills are processes that the kernel killed for want of memory. It is
	// final only after they have been reaped.
	OOMKills Figure
	// MemoryAtLimit tells that the group reached its own memory limit. OOM
	// kills without it mean that the host, or a group above, ran out.
	MemoryAtLimit bool
	// ProcessesDenied is how many forks the process limit refused.
	ProcessesDenied Figure
}

// MemoryUse is what a group's memory is used for at a moment.
type MemoryUse struct {
	// Program is what the kernel cannot take back, in bytes: there is no swap where it holds a limit.
	// Cache is the page cache, which it takes back before it kills for memory.
	Program, Cache int64
	// Refaults are the pages of the cache, since the group was made, that were read again soon after they
	// had been taken back. It is 0 on kernels that do not count them: version 2 does since Linux 5.9.
	Refaults int64
	// MajorFaults are the faults that waited for a page to be read.
	MajorFaults int64
}

// AtLimit tells whether a group of version 1 with this peak was at its limit, in bytes; 0 is
// none. The kernel charges up to 64 pages at a time (MEMCG_CHARGE_BATCH in
// include/linux/memcontrol.h), so the peak may be that far below.
func AtLimit(peak, limit, pageBytes int64) bool {
	return limit > 0 && peak >= limit-64*pageBytes
}
