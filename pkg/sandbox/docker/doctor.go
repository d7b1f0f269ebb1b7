package docker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// capabilities are what containers with these walls can do; out is why nothing leads
// out of them, and untried why none was made to see.
func (r *Runtime) capabilities(i sandbox.Isolation, out error, untried string) sandbox.Capabilities {
	caps := sandbox.Capabilities{
		Runtime: r.Name(), TTY: true,
		Levels:   []sandbox.Level{sandbox.LevelFull},
		Networks: networks(out),
	}
	caps.Mechanisms = append(r.wallRows(untried), networkWall(i, out))
	caps.Mechanisms = append(caps.Mechanisms, r.limitRows()...)
	for k, m := range caps.Mechanisms {
		name, limit := strings.CutPrefix(m.Name, "limit:")
		if limit {
			m.State = i.Limits[name]
		} else {
			m.State = cmp.Or(m.State, i.Mechanisms[name])
		}
		if m.State == api.Enforced {
			m.Mend = ""
		}
		caps.Mechanisms[k] = m
	}
	caps.Mechanisms = append(caps.Mechanisms, r.verdict.Mechanism())
	return caps
}

// asLocal is the way to what no container of an engine has.
const asLocal = "sandbox-run --runtime local, which has it"

// wallRows describe the walls. Those without a state have that of the containers.
func (r *Runtime) wallRows(untried string) []sandbox.Mechanism {
	i := r.info
	namespaces := sandbox.Mechanism{Name: "namespaces", Detail: "mount, pid, net, ipc, uts, cgroup"}
	uid := sandbox.Mechanism{Name: "uid", Detail: fmt.Sprintf("%d in every container, which is that user of the engine's machine", sandbox.UserID), Mend: "as root, " + asLocal}
	if i.userns {
		namespaces.Detail += ", user"
		uid.Detail = fmt.Sprintf("%d in every container, in the engine's user namespace", sandbox.UserID)
	}
	if i.podman && i.cgroups == "1" {
		namespaces.Detail += " (not on version 1 of control groups)"
		namespaces.Mend = "boot with systemd.unified_cgroup_hierarchy=1"
	}
	namespaces.Detail += "; by " + r.ociRuntime() + " of " + i.String()
	if untried != "" {
		namespaces.Detail += "; " + untried
	}
	seccomp := sandbox.Mechanism{Name: "seccomp", Detail: "an allow-list of system calls, for init as well"}
	if why := r.whyNoFilter(); why != "" {
		own := "none"
		if i.seccomp {
			own = "the engine's own"
		}
		seccomp.Detail = "an allow-list of system calls for programs; init is under " + own + ", for " + why
	}
	return []sandbox.Mechanism{
		r.kernelRow(), namespaces,
		{Name: "root", Detail: "the image, read-only, by " + cmp.Or(i.storage, "the engine's storage") + "; tmpfs for what is written"},
		seccomp, r.profileRow(),
		{Name: "landlock", Detail: "not in containers of an engine", Mend: asLocal},
		uid,
		{Name: "signals", Detail: "reach nothing outside"},
		{Name: "devices", Detail: "device nodes of its own"},
		r.cgroupRow(),
	}
}

// kernelRow says whose kernel programs call.
func (r *Runtime) kernelRow() sandbox.Mechanism {
	name := r.ociRuntime()
	if r.isolation().Mechanisms["kernel"] == api.Enforced {
		return sandbox.Mechanism{Name: "kernel", Detail: "one of their own, by " + name}
	}
	m := sandbox.Mechanism{Name: "kernel", Detail: "that of the engine's machine, Linux " + r.info.kernel, Mend: "have the engine know gVisor (runsc install, and restart it), and set DOCKER_RUNTIME=runsc"}
	switch {
	case r.info.podman: // which knows the names of what may not be here
		m.Mend = "install gVisor (runsc), and set DOCKER_RUNTIME=runsc"
	case r.info.knows["runsc"]:
		m.Mend = "DOCKER_RUNTIME=runsc"
	}
	return m
}

// profileRow is the one of AppArmor or SELinux, which engines put on their containers
// where the kernel has it.
func (r *Runtime) profileRow() sandbox.Mechanism {
	switch {
	case r.info.apparmor:
		return sandbox.Mechanism{Name: "apparmor", State: api.Enforced, Detail: "the engine's own profile"}
	case r.info.selinux:
		return sandbox.Mechanism{Name: "selinux", State: api.Enforced, Detail: "the engine's own label for each container"}
	}
	m := sandbox.Mechanism{Name: "apparmor", State: api.Absent, Detail: "the engine has neither it nor SELinux; our walls need none", Mend: "on the engine's machine: apt-get install apparmor, boot with security=apparmor"}
	if r.info.rootless {
		m.Mend = "" // it takes root to load a profile
	}
	return m
}

// cgroupRow describes the control groups.
func (r *Runtime) cgroupRow() sandbox.Mechanism {
	i := r.info
	if i.driver == noCgroups {
		return sandbox.Mechanism{Name: "cgroup", Detail: "the engine has none", Mend: i.mendCgroup("")}
	}
	return sandbox.Mechanism{Name: "cgroup", Detail: fmt.Sprintf("version %s, by %s", cmp.Or(i.cgroups, "1"), cmp.Or(i.driver, "cgroupfs")), Mend: i.mendCgroup("")}
}

// mendCgroup is what lets the engine hold a limit. Without root it has the controllers
// that systemd gives to the user, which is no CPU time unless it is told.
func (i engineInfo) mendCgroup(otherwise string) string {
	switch {
	case i.rootless && i.cgroups == "1":
		return "boot with systemd.unified_cgroup_hierarchy=1"
	case i.rootless:
		return "systemctl edit user@.service, with Delegate=cpu cpuset io memory pids in [Service], and log in again"
	}
	return cmp.Or(otherwise, "boot a kernel with the controllers memory, cpu and pids")
}

// limitRows describe the limits.
func (r *Runtime) limitRows() []sandbox.Mechanism {
	i := r.info
	by := ", by cgroup v" + cmp.Or(i.cgroups, "1")
	row := func(limit string, held bool, detail, otherwise, mend string) sandbox.Mechanism {
		m := sandbox.Mechanism{Name: "limit:" + limit, Detail: detail + by}
		switch {
		case r.gVisor():
			m.Detail, m.Mend = "gVisor cannot change those of what runs", "another DOCKER_RUNTIME; DOCKER_MEMORY_LIMIT and DOCKER_CPU_LIMIT hold the whole container"
		case !held:
			m.Detail, m.Mend = otherwise, mend
		}
		return m
	}
	memory := row(sandbox.LimitMemory, i.memory, "memory and swap", "the engine cannot limit it", i.mendCgroup("boot with cgroup_enable=memory"))
	if i.memory && !i.swap && !r.gVisor() {
		memory.Detail, memory.Mend = "memory"+by+", and as much swap as there is", i.mendCgroup(cgroup.MendSwap)
	}
	disk := sandbox.Mechanism{Name: "limit:" + sandbox.LimitDisk, Detail: "size and inodes of a tmpfs, for each of /workspace, /tmp and /dev/shm", Mend: asLocal}
	if i.podman {
		disk.Detail = "size of a tmpfs, for each of /workspace, /tmp and /dev/shm; no limit of files"
	}
	return []sandbox.Mechanism{
		memory,
		row(sandbox.LimitCPUs, i.cpu, "cores' worth of time", "the engine cannot limit it", i.mendCgroup("boot a kernel with CONFIG_CFS_BANDWIDTH")),
		row(sandbox.LimitCPUTime, i.driver != noCgroups, "the clock of the control group", "RLIMIT_CPU for each process", i.mendCgroup("")),
		row(sandbox.LimitProcesses, i.pids, "processes and threads", "the engine cannot limit them", i.mendCgroup("boot a kernel with CONFIG_CGROUP_PIDS")),
		disk,
		{Name: "limit:" + sandbox.LimitWallTime, Detail: "our clock, then SIGTERM, then SIGKILL to everything"},
		{Name: "limit:" + sandbox.LimitOpenFiles, Detail: "RLIMIT_NOFILE"},
	}
}
