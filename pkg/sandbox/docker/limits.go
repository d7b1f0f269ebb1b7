package docker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/moby/moby/api/types/container"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ceilings bounds what containers get by what the engine's machine has, and says so.
func ceilings(o *Options, cpus int, memory int64) (warnings []string) {
	if cpus > 0 && o.CPULimit > float64(cpus) {
		warnings = append(warnings, fmt.Sprintf("containers get at most %d CPUs and not %g, as DOCKER_CPU_LIMIT has it: the engine's machine has no more", cpus, o.CPULimit))
		o.CPULimit = float64(cpus)
	}
	if memory > 0 && o.MemoryLimitBytes > memory {
		const mb = 1 << 20
		warnings = append(warnings, fmt.Sprintf("containers get at most %d MiB of memory and not %d, as DOCKER_MEMORY_LIMIT has it: the engine's machine has no more", memory/mb, o.MemoryLimitBytes/mb))
		o.MemoryLimitBytes = memory
	}
	return warnings
}

// ociRuntime is what makes the containers.
func (r *Runtime) ociRuntime() string { return cmp.Or(r.options.Runtime, r.info.runtime) }

// gVisor tells whether it is gVisor's, which cannot change the limits of what runs:
// its control groups hold gVisor's own process.
func (r *Runtime) gVisor() bool {
	name := r.ociRuntime()
	return strings.Contains(name, "runsc") || strings.Contains(name, "gvisor")
}

// leastMemory is the lowest limit of memory that Docker takes.
const leastMemory = 6 << 20

// ownLimit tells that the control group that a container sees is the one that has its limits.
// crun has the processes of version 2 in a group below that, which no limit is reached in
// (run.oci.systemd.subgroup in crun(1)), and what others do is not known.
func (r *Runtime) ownLimit() bool {
	if !r.info.memory {
		return false
	}
	switch r.ociRuntime() {
	case "runc", "io.containerd.runc.v2":
		return r.info.cgroups == "1" || !r.info.podman
	case "crun":
		return r.info.cgroups == "1"
	}
	return false
}

// mayHold refuses a process whose limits the engine does not take.
func (r *Runtime) mayHold(p sandbox.Process) error {
	if n := p.Limits.MemoryBytes; n > 0 && n < leastMemory && !r.info.podman && !r.gVisor() {
		return &sandbox.UnsupportedError{What: fmt.Sprintf("a memory limit of %d bytes", n), Reason: "Docker takes none below 6 MiB", Mend: "Ask for 6m or more"}
	}
	return nil
}

// limitSetter is what has a container hold the limits of the next process; nil where
// nothing can.
func (e *engine) limitSetter() func(context.Context, sandbox.Limits) error {
	if e.r.gVisor() {
		return nil
	}
	return e.setLimits
}

// startingLimits are the limits that a container is made with: the ceilings, where
// there will be no others.
func (r *Runtime) startingLimits() container.Resources {
	if !r.gVisor() {
		return container.Resources{}
	}
	memory := r.options.MemoryLimitBytes
	return container.Resources{Memory: memory, MemorySwap: memory, NanoCPUs: int64(r.options.CPULimit * 1e9)}
}

// setLimits has the container hold the limits of the next process.
func (e *engine) setLimits(ctx context.Context, l sandbox.Limits) error {
	o := e.r.options
	if o.MemoryLimitBytes > 0 {
		l.MemoryBytes = least(l.MemoryBytes, o.MemoryLimitBytes)
	}
	if o.CPULimit > 0 && (l.CPUs == 0 || l.CPUs > o.CPULimit) {
		l.CPUs = o.CPULimit
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	if err := e.fits(l.MemoryBytes); err != nil {
		return err
	}
	return e.hold(ctx, l)
}

// fits refuses a limit of memory below the files that the container has, which are
// memory: version 1 of control groups takes none, and with version 2 the kernel would
// kill init.
func (e *engine) fits(memory int64) error {
	if memory <= 0 || e.limits.MemoryBytes > 0 && memory >= e.limits.MemoryBytes {
		return nil
	}
	used := int64(0)
	for _, dir := range e.trees {
		tree, err := e.container.Files(dir)
		if err != nil {
			return err
		}
		usage, err := tree.Usage()
		if err != nil {
			return e.r.failed("look at the files of a container", err)
		}
		used += usage.BytesUsed
	}
	if used+guest.InitMemory <= memory {
		return nil
	}
	return &sandbox.UnsupportedError{
		What: fmt.Sprintf("a memory limit of %d bytes", memory), Reason: fmt.Sprintf("the container's files, such as what was compiled, have %d by now, and are memory in this runtime", used),
		Mend: "Ask for more memory, or use --runtime local",
	}
}

// hold has the engine change the limits where they are others.
func (e *engine) hold(ctx context.Context, l sandbox.Limits) error {
	if l.MemoryBytes == e.limits.MemoryBytes && l.CPUs == e.limits.CPUs && l.Processes == e.limits.Processes {
		return nil
	}
	processes := int64(-1)
	if l.Processes > 0 {
		processes = l.Processes + 1 // init
	}
	res := &container.Resources{Memory: math.MaxInt64 >> 10, PidsLimit: &processes}
	if l.MemoryBytes > 0 {
		res.Memory = l.MemoryBytes
	}
	res.MemorySwap = res.Memory
	cpus := min(l.CPUs, float64(e.r.info.cpus))
	if cpus == 0 {
		cpus = float64(e.r.info.cpus)
	}
	res.CPUPeriod, res.CPUQuota = cgroup.CPUPeriodUS, int64(cpus*cgroup.CPUPeriodUS)
	if err := e.r.update(ctx, e.id, res); err != nil {
		return e.r.failed("set the limits of a container", err)
	}
	e.limits = l
	return nil
}

func least(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}
