package local

import (
	"math"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const unlimited = uint64(math.MaxUint64)

// dataSlack is how much later than the limit RLIMIT_DATA refuses memory, which a program
// may take for anything: as late as the sampler has been seen, which says what it was.
const dataSlack = 64 << 20

// rlimits are the limits of a child. They are per process, and so only a
// complement to control groups where those exist.
func (c *container) rlimits(l sandbox.Limits, held heldLimits) []spawn.Limit {
	if !c.walls.namespaces && l.FileSizeBytes == 0 {
		// No file system of its own holds the disk limit: this holds each file.
		l.FileSizeBytes = max(c.spec.Disk.Bytes, c.spec.BuildDisk.Bytes)
	}
	if !c.walls.seccomp { // a bare subprocess gets what was asked for and no more
		return requestedLimits(l, held)
	}
	return append([]spawn.Limit{
		{Name: "core", Resource: unix.RLIMIT_CORE, Soft: 1, Hard: 1}, // see seccomp's rule for it
		{Name: "memlock", Resource: unix.RLIMIT_MEMLOCK, Soft: 64 << 10, Hard: 64 << 10},
		{Name: "msgqueue", Resource: unix.RLIMIT_MSGQUEUE},
		{Name: "nice", Resource: unix.RLIMIT_NICE},
		{Name: "rtprio", Resource: unix.RLIMIT_RTPRIO},
		// Timers and queued signals also count for the user that the server has, with all its runs.
		{Name: "sigpending", Resource: unix.RLIMIT_SIGPENDING, Soft: 1024, Hard: 1024},
		{Name: "stack", Resource: unix.RLIMIT_STACK, Soft: 8 << 20, Hard: unlimited},
	}, requestedLimits(l, held)...)
}

func requestedLimits(l sandbox.Limits, held heldLimits) (limits []spawn.Limit) {
	add := func(name string, resource int, value int64) {
		limits = append(limits, spawn.Limit{Name: name, Resource: resource, Soft: uint64(value), Hard: uint64(value)})
	}
	if l.OpenFiles > 0 {
		add("nofile", unix.RLIMIT_NOFILE, l.OpenFiles)
	}
	if l.FileSizeBytes > 0 {
		add("fsize", unix.RLIMIT_FSIZE, l.FileSizeBytes)
	}
	if l.MemoryBytes > 0 && !held.memory {
		// Not RLIMIT_AS: Go, Node and the JVM reserve more address space than
		// any sensible limit and would not start.
		add("data", unix.RLIMIT_DATA, l.MemoryBytes+dataSlack)
	}
	if l.Processes > 0 && !held.processes {
		// Since Linux 5.14 counted for each user namespace and user.
		add("nproc", unix.RLIMIT_NPROC, l.Processes)
	}
	if l.CPUTime > 0 {
		limits = append(limits, spawn.CPULimit(l.CPUTime))
	}
	return limits
}

// someCores is a mask of n cores, chosen at random among those that we may run
// on: what is left of a CPU limit where no control group holds it. It is nil
// when n is 0 or no limit.
func someCores(n int) []byte {
	var allowed unix.CPUSet
	if n == 0 || unix.SchedGetaffinity(0, &allowed) != nil || n >= allowed.Count() {
		return nil
	}
	var cores []int
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			cores = append(cores, core)
		}
	}
	rand.Shuffle(len(cores), func(i, j int) { cores[i], cores[j] = cores[j], cores[i] })
	mask := make([]byte, len(allowed)*8)
	for _, core := range cores[:n] {
		mask[core/8] |= 1 << (core % 8) // little-endian words
	}
	return mask
}
