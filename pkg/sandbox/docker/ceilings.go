package docker

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"

	"github.com/sandbox-run/sandbox-run/pkg/api"
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

// warn fills in what is weaker than the defaults promise.
func (r *Runtime) warn(i *sandbox.Isolation) {
	i.Warnings = append([]string{"disk is degraded: /workspace, /tmp and /dev/shm may each hold that much"}, r.warnings...)
	if r.gVisor() {
		for _, name := range []string{sandbox.LimitMemory, sandbox.LimitCPUs, sandbox.LimitCPUTime, sandbox.LimitProcesses} {
			i.Limits[name] = api.Absent
		}
		i.Warnings = append(i.Warnings, "limits: memory, cpu, cpu_time, processes are absent; gVisor cannot change those of a container that runs")
	}
	if !r.info.podman {
		return
	}
	i.Limits[sandbox.LimitInodes] = api.Absent
	i.Warnings = append(i.Warnings, "inodes is absent: Podman's file systems in memory have no such limit")
	if r.info.cgroups == "1" {
		i.Mechanisms["namespaces"] = api.Degraded
		i.Warnings = append(i.Warnings, "namespaces is degraded: Podman makes none for control groups of version 1, so that programs see the name of theirs")
	}
}
