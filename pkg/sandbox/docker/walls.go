package docker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// engineInfo is what an engine tells of itself.
type engineInfo struct {
	version string
	podman  bool
	system  string // that it runs on
	kernel  string
	cpus    int
	storage string
	runtime string          // the OCI runtime that it takes unless it is told
	knows   map[string]bool // the OCI runtimes that it could take

	cgroups, driver         string // the version of control groups, and who makes them
	memory, swap, cpu, pids bool   // what they can limit

	// What stands around its containers beside our own walls.
	seccomp, apparmor, selinux bool
	filters                    bool   // it can put a filter around them
	profile                    string // the file of its operator's own filter
	userns, rootless           bool
}

func newEngineInfo(i system.Info) engineInfo {
	e := engineInfo{
		version: i.ServerVersion, system: i.OperatingSystem, kernel: i.KernelVersion, cpus: i.NCPU, storage: i.Driver,
		runtime: i.DefaultRuntime, knows: map[string]bool{},
		cgroups: i.CgroupVersion, driver: i.CgroupDriver, memory: i.MemoryLimit, swap: i.SwapLimit, cpu: i.CPUCfsQuota, pids: i.PidsLimit,
	}
	for name := range i.Runtimes {
		e.knows[name] = true
	}
	for _, option := range i.SecurityOptions { // name=seccomp,profile=default
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "name="), ",")
		switch name {
		case "seccomp":
			e.filters = true
			_, profile, _ := strings.Cut(option, "profile=")
			e.seccomp = profile != "unconfined"
			if !slices.Contains([]string{"", "builtin", "default", "unconfined"}, profile) {
				e.profile = profile
			}
		case "apparmor":
			e.apparmor = true
		case "selinux":
			e.selinux = true
		case "userns":
			e.userns = true
		case "rootless":
			e.userns, e.rootless = true, true
		}
	}
	return e
}

// String names the engine.
func (i engineInfo) String() string {
	name := "Docker"
	if i.podman {
		name = "Podman"
	}
	if i.rootless {
		name += " without root"
	}
	return fmt.Sprintf("%s %s on %s", name, i.version, cmp.Or(i.system, "Linux"))
}

// limitStates are the states of what control groups hold.
func (r *Runtime) limitStates() map[string]string {
	state := func(held bool, otherwise string) string {
		if held {
			return api.Enforced
		}
		return otherwise
	}
	if r.gVisor() {
		return map[string]string{sandbox.LimitMemory: api.Absent, sandbox.LimitCPUs: api.Absent, sandbox.LimitCPUTime: api.Absent, sandbox.LimitProcesses: api.Absent}
	}
	i := r.info
	withoutSwap := api.Absent
	if i.memory {
		withoutSwap = api.Degraded
	}
	return map[string]string{
		sandbox.LimitMemory:    state(i.memory && i.swap, withoutSwap),
		sandbox.LimitCPUs:      state(i.cpu, api.Absent),
		sandbox.LimitCPUTime:   state(i.driver != noCgroups, api.Sampled),
		sandbox.LimitProcesses: state(i.pids, api.Absent),
	}
}

// noCgroups is who makes the control groups of an engine without root that has none.
const noCgroups = "none"

// cgroupState is the state of the control groups as a whole.
func (i engineInfo) cgroupState() string {
	switch {
	case i.driver == noCgroups:
		return api.Absent
	case i.memory && i.cpu && i.pids:
		return api.Enforced
	}
	return api.Degraded
}

// isolation is what stands around every container.
func (r *Runtime) isolation() sandbox.Isolation {
	kernel := api.Absent
	if advisory.OwnKernel(r.ociRuntime()) {
		kernel = api.Enforced
	}
	i := sandbox.Isolation{
		Level: sandbox.LevelFull,
		Mechanisms: map[string]string{
			"kernel": kernel, "namespaces": api.Enforced, "root": api.Enforced, "seccomp": api.Enforced, "landlock": api.Absent,
			"uid": api.Degraded, "signals": api.Enforced, "devices": api.Enforced, "network": api.Enforced, "cgroup": r.info.cgroupState(),
		},
		Limits: r.limitStates(),
	}
	for name, state := range map[string]string{
		sandbox.LimitWallTime: api.Enforced, sandbox.LimitOpenFiles: api.Enforced, sandbox.LimitDisk: api.Degraded, sandbox.LimitInodes: api.Degraded,
	} {
		i.Limits[name] = state
	}
	r.warn(&i)
	i.Warnings = append(i.Warnings, r.verdict.Warnings(true)...)
	return i
}

// warn fills in what is weaker than the defaults promise.
func (r *Runtime) warn(i *sandbox.Isolation) {
	i.Warnings = append([]string{"disk is degraded: /workspace, /tmp and /dev/shm may each hold that much, and /build and build caches what compilers may"}, r.warnings...)
	var weak []string
	for _, name := range []string{sandbox.LimitMemory, sandbox.LimitCPUs, sandbox.LimitCPUTime, sandbox.LimitProcesses} {
		if s := i.Limits[name]; s != api.Enforced {
			weak = append(weak, name+" is "+s)
		}
	}
	why := "sandbox-run doctor tells how to mend it"
	if r.gVisor() {
		why = "gVisor cannot change those of a container that runs"
	}
	if len(weak) > 0 {
		i.Warnings = append(i.Warnings, "limits: "+strings.Join(weak, ", ")+"; "+why)
	}
	if why := r.whyNoFilter(); why != "" && !r.gVisor() {
		i.Warnings = append(i.Warnings, "seccomp: programs are under our filter, and init is not, for "+why)
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
