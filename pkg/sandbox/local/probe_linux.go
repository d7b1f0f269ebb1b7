package local

import (
	"context"
	"fmt"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Probe implements [sandbox.Runtime]. It makes containers rather than asks
// whether it may: some systems let a user namespace be made and then refuse
// every mount in it.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	caps := sandbox.Capabilities{Runtime: r.Name(), TTY: true, Volumes: true, WorkspaceOnDisk: r.host.root}
	full := r.try(ctx, sandbox.LevelFull)
	restricted := r.try(ctx, sandbox.LevelRestricted)
	if full == nil {
		caps.Levels = append(caps.Levels, sandbox.LevelFull)
		caps.Networks = []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost}
	} else {
		caps.Networks = []sandbox.NetworkMode{sandbox.NetworkNone}
	}
	if restricted == nil {
		caps.Levels = append(caps.Levels, sandbox.LevelRestricted)
	}
	caps.Levels = append(caps.Levels, sandbox.LevelNone)
	caps.Mechanisms = append(r.wallMechanisms(full), r.limitMechanisms(full == nil)...)
	return caps, nil
}

// try makes and deletes a container of a level.
func (r *Runtime) try(ctx context.Context, level sandbox.Level) error {
	c, err := r.Create(ctx, sandbox.Spec{Level: level, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		return err
	}
	return c.Delete(ctx)
}

// wallMechanisms describes the walls. full is why there are no namespaces.
func (r *Runtime) wallMechanisms(full error) []sandbox.Mechanism {
	h := &r.host
	user := "as an ordinary user, in a user namespace"
	if h.root {
		user = "as root"
	}
	i := h.isolationOutside(wallsRestricted, nil)
	namespaces := sandbox.Mechanism{Name: "namespaces", State: api.Enforced, Detail: "mount, pid, net, ipc, uts, cgroup, user; " + user}
	root := sandbox.Mechanism{Name: "root", State: api.Enforced, Detail: "an overlay over read-only toolchains, tmpfs for what is written"}
	if full == nil {
		i = h.isolationFull()
	} else {
		namespaces.State, namespaces.Detail, namespaces.Mend = api.Absent, full.Error(), h.mendNamespaces()
		root.State, root.Detail = api.Absent, "needs namespaces; programs see the host's root through Landlock"
	}
	walls := []sandbox.Mechanism{
		namespaces, root,
		{Name: "seccomp", State: i.Mechanisms["seccomp"], Detail: "an allow-list of system calls"},
		{Name: "landlock", State: i.Mechanisms["landlock"], Detail: fmt.Sprintf("version %d", h.landlockABI)},
		{Name: "uid", State: i.Mechanisms["uid"], Detail: "a user id of its own for each container"},
		{Name: "devices", State: i.Mechanisms["devices"], Detail: "device nodes of its own"},
	}
	if h.landlockABI == 0 {
		walls[3].Detail = "this kernel has none"
		walls[3].Mend = "boot Linux 5.13 or later with landlock among the modules of lsm="
	}
	if !h.root {
		walls[4].Detail = "programs run with your own user id, alone in their user namespace"
		walls[4].Mend = "run as root, or sandbox-server as a system service"
		walls[5].Detail = "the host's /dev/null and its kin are shared; locks on them are visible to other runs"
		walls[5].Mend = walls[4].Mend
	}
	return walls
}

// limitMechanisms describes the limits.
func (r *Runtime) limitMechanisms(namespaces bool) []sandbox.Mechanism {
	h := &r.host
	states := h.limitStates(namespaces)
	var list []sandbox.Mechanism
	for _, l := range []struct {
		name, held, otherwise string
		controller            cgroup.Controller
	}{
		{sandbox.LimitMemory, "memory and swap", "RLIMIT_DATA for each process, and a sample of the whole every 5 ms", cgroup.Memory},
		{sandbox.LimitCPUs, "cores' worth of time", "whole cores by affinity", cgroup.CPU},
		{sandbox.LimitCPUTime, "the clock of the control group", "RLIMIT_CPU for each process", cgroup.CPUAccounting},
		{sandbox.LimitProcesses, "processes and threads", "RLIMIT_NPROC, which a user namespace counts for itself", cgroup.PIDs},
	} {
		m := sandbox.Mechanism{Name: "limit:" + l.name, State: states[l.name], Detail: l.otherwise, Mend: h.mend(l.name)}
		if h.has(l.controller) {
			m.Detail = fmt.Sprintf("%s, by cgroup v%d", l.held, h.cgroups.Controllers()[l.controller].Version)
			m.Mend = ""
		} else if why := h.whyAbsent(l.name); why != "" {
			m.Detail += "; no control group: " + why
		}
		list = append(list, m)
	}
	disk := sandbox.Mechanism{Name: "limit:" + sandbox.LimitDisk, State: states[sandbox.LimitDisk], Detail: "size and inodes of a tmpfs"}
	if !namespaces {
		disk.Detail = "RLIMIT_FSIZE for each file; needs namespaces"
	}
	return append(list, disk,
		sandbox.Mechanism{Name: "limit:" + sandbox.LimitWallTime, State: api.Enforced, Detail: "our clock, then SIGTERM, then SIGKILL to everything"},
		sandbox.Mechanism{Name: "limit:" + sandbox.LimitOpenFiles, State: api.Enforced, Detail: "RLIMIT_NOFILE"})
}
