package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Probe implements [sandbox.Runtime]. It makes containers rather than asks
// whether it may: some systems let a user namespace be made and then refuse
// every mount in it.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	caps := sandbox.Capabilities{Runtime: r.Name(), TTY: true, WorkspaceOnDisk: r.host.root}
	full := r.try(ctx, sandbox.LevelFull, sandbox.NetworkNone)
	restricted := r.try(ctx, sandbox.LevelRestricted, sandbox.NetworkNone)
	caps.Networks = []sandbox.NetworkMode{sandbox.NetworkNone}
	strongest := sandbox.LevelRestricted
	if full == nil {
		strongest = sandbox.LevelFull
		caps.Levels = append(caps.Levels, strongest)
		caps.Networks = append(caps.Networks, sandbox.NetworkLocalhost)
	}
	if restricted == nil {
		caps.Levels = append(caps.Levels, sandbox.LevelRestricted)
	}
	out := r.try(ctx, strongest, sandbox.NetworkFull)
	if out == nil {
		caps.Networks = append(caps.Networks, sandbox.NetworkAllowlist, sandbox.NetworkFull)
	}
	caps.Levels = append(caps.Levels, sandbox.LevelNone)
	caps.Mechanisms = append(r.wallMechanisms(full), r.networkWall(full, out))
	caps.Mechanisms = append(caps.Mechanisms, r.limitMechanisms(full == nil)...)
	caps.Mechanisms = append(caps.Mechanisms, r.verdict.Mechanism())
	return caps, nil
}

// try makes and deletes a container of a level.
func (r *Runtime) try(ctx context.Context, level sandbox.Level, network sandbox.NetworkMode) error {
	c, err := r.Create(ctx, sandbox.Spec{Level: level, Network: sandbox.NetworkPolicy{Mode: network}, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		return err
	}
	return c.Delete(ctx)
}

// wallMechanisms describes the walls. full is why there are no namespaces.
func (r *Runtime) wallMechanisms(full error) []sandbox.Mechanism {
	i := r.host.isolationFull()
	if full != nil {
		i = r.host.isolationOutside(wallsRestricted, nil)
	}
	walls := append(r.namespaceWalls(full),
		sandbox.Mechanism{Name: "seccomp", Detail: "an allow-list of system calls"},
		r.landlockWall(),
		r.uidWall(full != nil),
		sandbox.Mechanism{Name: "signals", Detail: "reach nothing outside"},
		r.deviceWall(full != nil))
	for k := range walls {
		walls[k].State = i.Mechanisms[walls[k].Name]
		if walls[k].State == api.Enforced {
			walls[k].Mend = ""
		}
	}
	return walls
}

func (r *Runtime) namespaceWalls(full error) []sandbox.Mechanism {
	namespaces := sandbox.Mechanism{Name: "namespaces", Detail: "mount, pid, net, ipc, uts, cgroup, user; as an ordinary user, in a user namespace"}
	root := sandbox.Mechanism{Name: "root", Detail: "an overlay over read-only toolchains, tmpfs for what is written"}
	if r.host.root {
		namespaces.Detail = "mount, pid, net, ipc, uts, cgroup, user; as root"
	}
	if full != nil {
		namespaces.Detail, namespaces.Mend = full.Error(), r.host.mendNamespaces()
		var unsupported *sandbox.UnsupportedError
		if errors.As(full, &unsupported) {
			namespaces.Detail = unsupported.Reason
		}
		root.Detail = "needs namespaces; programs see the host's root through Landlock"
	}
	return []sandbox.Mechanism{namespaces, root}
}

func (r *Runtime) landlockWall() sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "landlock", Detail: fmt.Sprintf("version %d", r.host.landlockABI), Mend: "boot Linux 6.12 or later: it confines signals and abstract sockets too"}
	if r.host.landlockABI == 0 {
		m.Detail = "this kernel has none"
		m.Mend = "boot Linux 5.13 or later with landlock among the modules of lsm="
	}
	return m
}

// asRoot is the way out of everything that comes of having one user id.
const asRoot = "run as root; in a container, with CHOWN, KILL, SETGID and SETUID"

func (r *Runtime) uidWall(outside bool) sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "uid", Detail: "a user id of its own for each container", Mend: asRoot}
	switch {
	case r.host.root:
	case outside:
		m.Detail = "programs run with your own user id"
	default:
		m.Detail = "programs run with your own user id, alone in their user namespace"
	}
	return m
}

func (r *Runtime) deviceWall(outside bool) sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "devices", Detail: "device nodes of its own", Mend: asRoot}
	switch {
	case outside:
		m.Detail, m.Mend = "needs namespaces; programs see the host's", ""
	case !r.host.root:
		m.Detail = "the host's /dev/null and its kin are shared; locks on them are visible to other runs"
	}
	return m
}

// networkWall describes what leads out. full and out are why there are no
// namespaces, and why nothing leads out.
func (r *Runtime) networkWall(full, out error) sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "network", State: api.Enforced, Detail: "connections and names go through a relay that holds them against the allow-list"}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case out != nil:
		m.State, m.Detail = api.Degraded, "nothing leads out: "+out.Error()
	case full != nil:
		m.State, m.Detail, m.Mend = api.Degraded, outsideNetwork, r.host.mendNamespaces()
	case r.redirects == redirectAbsent:
		m.State, m.Detail, m.Mend = api.Degraded, "the ports that an allow-list names lead to the relay; "+r.whyNoRedirect.Error(), outlet.MendRedirect
	}
	return m
}

// limitMechanisms describes the limits.
func (r *Runtime) limitMechanisms(namespaces bool) []sandbox.Mechanism {
	h := &r.host
	w, nproc := wallsFull, "RLIMIT_NPROC, counted for the user and the user namespace"
	if !namespaces {
		w = wallsRestricted
	}
	states := h.limitStates(w)
	if states[sandbox.LimitProcesses] == api.Absent {
		nproc = "RLIMIT_NPROC does not bind root"
	}
	var list []sandbox.Mechanism
	for _, l := range []struct {
		name, held, otherwise string
		controller            cgroup.Controller
	}{
		{sandbox.LimitMemory, "memory and swap", "RLIMIT_DATA for each process, and a sample of the whole every 5 ms", cgroup.Memory},
		{sandbox.LimitCPUs, "cores' worth of time, and a server's tenants share the cores evenly", "whole cores by affinity; nothing divides them between a server's tenants", cgroup.CPU},
		{sandbox.LimitCPUTime, "the clock of the control group", "RLIMIT_CPU for each process", cgroup.CPUAccounting},
		{sandbox.LimitProcesses, "processes and threads", nproc, cgroup.PIDs},
	} {
		m := sandbox.Mechanism{Name: "limit:" + l.name, State: states[l.name], Detail: l.otherwise, Mend: h.mend(l.name)}
		if h.has(l.controller) {
			m.Mend = ""
			if l.controller == cgroup.Memory && h.cgroups.SwapsBeside() {
				l.held, m.Mend = "memory, and as much swap as there is", cgroup.MendSwap
			}
			m.Detail = fmt.Sprintf("%s, by cgroup v%d", l.held, h.cgroups.Controllers()[l.controller].Version)
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
