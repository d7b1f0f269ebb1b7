package docker

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// engineWith is what an engine on a complete machine tells, with a change.
func engineWith(change func(*system.Info)) *Runtime {
	i := system.Info{
		ServerVersion: "29.1.0", OperatingSystem: "Debian GNU/Linux 13 (trixie)", KernelVersion: "6.12.0", NCPU: 2, Driver: "overlay2", DefaultRuntime: "runc",
		Runtimes:    map[string]system.RuntimeWithStatus{"runc": {}, "runsc": {}},
		MemoryLimit: true, SwapLimit: true, CPUCfsQuota: true, PidsLimit: true, CgroupDriver: "systemd", CgroupVersion: "2",
		SecurityOptions: []string{"name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"},
	}
	change(&i)
	info := newEngineInfo(i)
	return &Runtime{info: info, profiles: newProfiles(info)}
}

// TestDoctor: each row says what the engine tells that it can do, with what mends the
// rest; and results say the same.
func TestDoctor(t *testing.T) {
	nothing := func(*system.Info) {}
	for _, tc := range []struct {
		name          string
		change        func(*system.Info)
		runtime       string
		row, state    string
		detail, mends string
	}{
		{"complete", nothing, "", "limit:memory", api.Enforced, "memory and swap, by cgroup v2", ""},
		{"complete", nothing, "", "limit:cpu", api.Enforced, "by cgroup v2", ""},
		{"complete", nothing, "", "cgroup", api.Enforced, "version 2, by systemd", ""},
		{"complete", nothing, "", "apparmor", api.Enforced, "the engine's own profile", ""},
		{"complete", nothing, "", "seccomp", api.Enforced, "for init as well", ""},
		{"an older Docker", func(i *system.Info) { i.ServerVersion = "20.10.9" }, "", "seccomp", api.Enforced, "init is under the engine's own, for Docker 20.10.9", ""},
		{"Debian 12", func(i *system.Info) { i.ServerVersion = "20.10.24+dfsg1" }, "", "seccomp", api.Enforced, "for init as well", ""},
		{"a profile of the operator's", func(i *system.Info) { i.SecurityOptions = []string{"name=seccomp,profile=/etc/docker/seccomp.json"} }, "", "seccomp", api.Enforced, "operator has one: /etc/docker/seccomp.json", ""},
		{"gVisor", nothing, "runsc", "seccomp", api.Enforced, "gVisor puts none around it", ""},
		{"no seccomp", func(i *system.Info) { i.SecurityOptions = nil }, "", "seccomp", api.Enforced, "init is under none, for the engine does not know seccomp", ""},
		{"complete", nothing, "", "namespaces", api.Enforced, "by runc of Docker 29.1.0 on Debian GNU/Linux 13 (trixie)", ""},
		{"complete", nothing, "", "root", api.Enforced, "overlay2", ""},
		{"complete", nothing, "", "kernel", api.Absent, "Linux 6.12.0", "DOCKER_RUNTIME=runsc"},
		{"complete", nothing, "", "landlock", api.Absent, "", "--runtime local"},
		{"no gVisor", func(i *system.Info) { delete(i.Runtimes, "runsc") }, "", "kernel", api.Absent, "", "runsc install"},
		{"gVisor", nothing, "runsc", "kernel", api.Enforced, "by runsc", ""},
		{"gVisor", nothing, "runsc", "limit:memory", api.Absent, "gVisor", "DOCKER_MEMORY_LIMIT"},
		{"no swap", func(i *system.Info) { i.SwapLimit = false }, "", "limit:memory", api.Degraded, "as much swap as there is", "swapaccount=1"},
		{"no memory", func(i *system.Info) { i.MemoryLimit, i.SwapLimit = false, false }, "", "limit:memory", api.Absent, "cannot limit it", "cgroup_enable=memory"},
		{"no memory", func(i *system.Info) { i.MemoryLimit = false }, "", "cgroup", api.Degraded, "", "controllers memory"},
		{"no pids", func(i *system.Info) { i.PidsLimit = false }, "", "limit:processes", api.Absent, "cannot limit them", "CONFIG_CGROUP_PIDS"},
		{"no profiles", func(i *system.Info) { i.SecurityOptions = nil }, "", "apparmor", api.Absent, "neither it nor SELinux", "apt-get install apparmor"},
		{"no profiles", func(i *system.Info) { i.SecurityOptions = []string{"name=seccomp,profile=unconfined"} }, "", "seccomp", api.Enforced, "for init as well", ""},
		{"SELinux", func(i *system.Info) { i.SecurityOptions = []string{"name=selinux"} }, "", "selinux", api.Enforced, "label", ""},
		{"rootless", func(i *system.Info) {
			i.CPUCfsQuota, i.SecurityOptions = false, append(i.SecurityOptions, "name=rootless")
		}, "", "limit:cpu", api.Absent, "cannot limit it", "systemctl edit user@.service, with Delegate=cpu"},
		{"rootless", func(i *system.Info) { i.SecurityOptions = []string{"name=rootless"} }, "", "uid", api.Degraded, "in the engine's user namespace", "--runtime local"},
		{"rootless", func(i *system.Info) { i.SecurityOptions = []string{"name=rootless"} }, "", "namespaces", api.Enforced, "cgroup, user; by runc of Docker without root", ""},
		{"no control groups", func(i *system.Info) {
			*i = system.Info{CgroupDriver: "none", CgroupVersion: "1", SecurityOptions: []string{"name=rootless"}}
		}, "", "cgroup", api.Absent, "none", "systemd.unified_cgroup_hierarchy=1"},
		{"no control groups", func(i *system.Info) { i.CgroupDriver = "none" }, "", "limit:cpu_time", api.Sampled, "RLIMIT_CPU", "boot"},
	} {
		r := engineWith(tc.change)
		r.options.Runtime = tc.runtime
		i := r.isolation()
		found := false
		for _, m := range r.capabilities(i, errors.New("nothing"), "").Mechanisms {
			if m.Name != "versions" && (m.State == "" || m.Detail == "") || m.State == api.Enforced && m.Mend != "" {
				t.Errorf("%s: half a row: %+v", tc.name, m)
			}
			if m.Name != tc.row {
				continue
			}
			found = true
			if m.State != tc.state || !strings.Contains(m.Detail, tc.detail) || !strings.Contains(m.Mend, tc.mends) || (m.Mend == "") != (tc.mends == "") {
				t.Errorf("%s: %+v, want %s, %q, %q", tc.name, m, tc.state, tc.detail, tc.mends)
			}
		}
		if !found {
			t.Errorf("%s: no row %s", tc.name, tc.row)
		}
		limit, ok := strings.CutPrefix(tc.row, "limit:")
		if !ok || tc.state == api.Enforced {
			continue
		}
		if warnings := strings.Join(i.Warnings, "\n"); !strings.Contains(warnings, limit+" is "+tc.state) {
			t.Errorf("%s: warnings %q", tc.name, warnings)
		}
		if err := i.CheckStrict(sandbox.Limits{Strict: []string{limit}}); (err == nil) != (tc.state != api.Absent) {
			t.Errorf("%s: asked for by name: %v", tc.name, err)
		}
	}
}

// TestPodmanLimits: what Podman cannot hold it is not asked to, which would fail.
func TestPodmanLimits(t *testing.T) {
	pids := int64(9)
	asked := &container.Resources{Memory: 1, MemorySwap: 2, CPUQuota: 3, CPUPeriod: 4, PidsLimit: &pids}
	for name, tc := range map[string]struct {
		change func(*system.Info)
		want   string
	}{
		"all":     {func(*system.Info) {}, `{"memory":{"limit":1,"swap":2},"cpu":{"quota":3,"period":4},"pids":{"limit":9}}`},
		"no swap": {func(i *system.Info) { i.SwapLimit = false }, `{"memory":{"limit":1},"cpu":{"quota":3,"period":4},"pids":{"limit":9}}`},
		"no cpu":  {func(i *system.Info) { i.CPUCfsQuota = false }, `{"memory":{"limit":1,"swap":2},"pids":{"limit":9}}`},
		"none":    {func(i *system.Info) { *i = system.Info{} }, `{}`},
	} {
		got, err := json.Marshal(engineWith(tc.change).info.podmanLimits(asked))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tc.want)
		}
	}
}

// TestOwnLimit: the group that a container sees is known to have the limits where the OCI
// runtime puts processes nowhere else.
func TestOwnLimit(t *testing.T) {
	for name, c := range map[string]struct {
		version, runtime string
		podman, memory   bool
		want             bool
	}{
		"Docker, version 2":             {"2", "", false, true, true},
		"Docker, version 1":             {"1", "", false, true, true},
		"by containerd's name":          {"2", "io.containerd.runc.v2", false, true, true},
		"crun, version 2":               {"2", "crun", false, true, false},
		"crun, version 1":               {"1", "crun", false, true, true},
		"Podman, version 2":             {"2", "", true, true, false},
		"Podman, version 1":             {"1", "", true, true, true},
		"gVisor":                        {"1", "runsc", false, true, false},
		"Kata":                          {"2", "io.containerd.kata.v2", false, true, false},
		"an engine that limits nothing": {"2", "", false, false, false},
	} {
		r := engineWith(func(i *system.Info) { i.CgroupVersion, i.MemoryLimit = c.version, c.memory })
		r.options.Runtime, r.info.podman = c.runtime, c.podman
		if got := r.ownLimit(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
