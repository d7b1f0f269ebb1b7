package local

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// rlimit is one resource limit of the child.
type rlimit struct {
	name       string
	resource   int
	soft, hard uint64
}

func (l rlimit) set(p *spawn.Program) {
	value := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, l.soft), l.hard)
	p.Call("setrlimit "+l.name, unix.SYS_PRLIMIT64, spawn.Value(0), spawn.Value(l.resource), p.Bytes(value), spawn.Value(0))
}

const unlimited = uint64(math.MaxUint64)

// rlimits are the limits of a child. They are per process, and so only a
// complement to control groups where those exist.
func (c *container) rlimits(l sandbox.Limits, held heldLimits) []rlimit {
	if !c.walls.namespaces && l.FileSizeBytes == 0 {
		// No file system of its own holds the disk limit: this holds each file.
		l.FileSizeBytes = max(c.spec.Disk.Bytes, c.spec.BuildDisk.Bytes)
	}
	if !c.walls.seccomp { // a bare subprocess gets what was asked for and no more
		return requestedLimits(l, held)
	}
	return append([]rlimit{
		{"core", unix.RLIMIT_CORE, 0, 0},
		{"memlock", unix.RLIMIT_MEMLOCK, 64 << 10, 64 << 10},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 0, 0},
		{"nice", unix.RLIMIT_NICE, 0, 0},
		{"rtprio", unix.RLIMIT_RTPRIO, 0, 0},
		{"stack", unix.RLIMIT_STACK, 8 << 20, unlimited},
	}, requestedLimits(l, held)...)
}

func requestedLimits(l sandbox.Limits, held heldLimits) (limits []rlimit) {
	add := func(name string, resource int, value int64) {
		limits = append(limits, rlimit{name, resource, uint64(value), uint64(value)})
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
		add("data", unix.RLIMIT_DATA, l.MemoryBytes)
	}
	if l.Processes > 0 && !held.processes {
		// Since Linux 5.14 counted for each user namespace and user.
		add("nproc", unix.RLIMIT_NPROC, l.Processes)
	}
	if l.CPUTime > 0 {
		// A backstop for one process; the tree is held by its clock.
		seconds := int64(math.Ceil(l.CPUTime.Seconds())) + 1
		limits = append(limits, rlimit{"cpu", unix.RLIMIT_CPU, uint64(seconds), uint64(seconds + 1)})
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
