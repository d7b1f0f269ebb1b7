package posture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Faults says what of a posture is not as the isolation promises: nothing, where all
// is well. It holds the posture against the mechanisms that the runtime calls enforced,
// for a container without a network, and against the rule of its level.
func (p *Posture) Faults() (faults []string) {
	for _, l := range p.Lines {
		if want := p.fault(l); want != "" {
			faults = append(faults, fmt.Sprintf("%s is %q: %s", l.Key, l.Value, want))
		}
	}
	for _, key := range p.needed() {
		if !p.saw(key) {
			faults = append(faults, key+" was not seen: what nobody has looked at is not in order")
		}
	}
	return append(faults, p.filtered()...)
}

// Mend says what to do where there are faults.
func (p *Posture) Mend() string {
	what := "see sandbox-run doctor for what this host lacks, and try a newer kernel, or SANDBOX_ISOLATION=restricted"
	switch {
	case p.engine():
		what = "see whether the engine's settings change what its containers get: its runtime, its profile for seccomp, daemon.json"
	case p.Runtime != "local":
		what = "see whether another version of the runtime does better, or SANDBOX_TYPE=local"
	case !p.full():
		what = "see sandbox-run doctor for what this host lacks, and try a newer kernel"
	}
	return what + ". If that is no help it is a fault of sandbox-run: please report all that sandbox-run doctor --posture prints"
}

// sealed is whether a file can be made in the build directory in the run phase. Where the
// runtime has Landlock that alone keeps a program from it: at [sandbox.LevelFull] nothing
// else that a program can try tells whether it is there.
const sealed = "writes " + sandbox.BuildDir

// needed are lines without which nothing is proven.
func (p *Posture) needed() []string {
	keys := []string{"outside", "descriptors", sealed, "environment", "process leads"}
	status := slices.Concat(capabilities, []string{"Uid", "Gid", "Groups", "Umask", "NoNewPrivs", "Seccomp"})
	if p.ownKernel() { // gVisor's /proc has not all of it
		status = []string{"Uid", "CapEff", "CapBnd", "Seccomp"}
	} else {
		for _, limit := range rlimits {
			keys = append(keys, "limit "+limit.name)
		}
	}
	for _, key := range status {
		keys = append(keys, "status "+key)
	}
	for family := range families {
		keys = append(keys, fmt.Sprintf("socket %d", family))
	}
	if p.full() && p.enforced("namespaces") && !p.ownKernel() {
		for _, kind := range namespaceKinds {
			keys = append(keys, "namespace "+kind)
		}
		for _, target := range mounted {
			keys = append(keys, "mount "+target)
		}
	}
	return keys
}

// saw tells whether there is a line, which may be empty.
func (p *Posture) saw(key string) bool {
	return slices.ContainsFunc(p.Lines, func(l Line) bool { return l.Key == key })
}

// mounted are the mount points that each container has, whatever else there is.
var mounted = []string{"/", sandbox.WorkspaceDir, sandbox.BuildDir, sandbox.TempDir, "/dev/shm", "/proc"}

// rlimits are the limits that each program has, and the most that they may be: soft and hard.
// Those of its time, its files, its memory and its processes are there where nothing else
// holds them; others are inherited.
var rlimits = []struct{ name, most string }{
	{"core file size", "1 1"}, {"locked memory", "65536 65536"}, {"msgqueue size", "0 0"}, {"pending signals", "1024 1024"},
	{"nice priority", "0 0"}, {"realtime priority", "0 0"}, {"stack size", "8388608 unlimited"}, {"open files", fmt.Sprintf("%d %[1]d", limits.OpenFiles)},
}

func (p *Posture) enforced(mechanism string) bool {
	return p.Isolation.Mechanisms[mechanism] == api.Enforced
}

func (p *Posture) full() bool { return p.Isolation.Level == sandbox.LevelFull }

// ownKernel tells whether files, devices and mounts are those of a kernel of the
// container's own, such as gVisor's: they lead nowhere else.
func (p *Posture) ownKernel() bool { return p.enforced("kernel") || p.enforced("vm") }

// engine tells whether an engine such as Docker has made the container: in an image, and
// with mounts that are of its own choice.
func (p *Posture) engine() bool { return p.Runtime == "docker" }

// fault says what is wrong with a line, or nothing.
func (p *Posture) fault(l Line) string {
	kind, what, _ := strings.Cut(l.Key, " ")
	switch {
	case p.ownKernel() && slices.Contains([]string{"mount", "device", "reads", "writes"}, kind):
		return ""
	case l.Key == "descriptors" && l.Value != "0":
		return "a program is given its three streams and no other descriptor"
	case l.Key == "environment" && l.Value != "PATH":
		return "a program is given the variables of the request and no others"
	case kind == "status":
		return p.statusFault(what, l.Value)
	case kind == "limit" && !p.ownKernel():
		return p.limitFault(what, l.Value)
	case l.Key == "process leads" && l.Value != "session true, group true" && !p.ownKernel():
		return "a program leads a session of its own, and its signals reach nobody else's"
	case l.Key == "process oom_score_adj" && p.Runtime == "local" && !atMost("500", l.Value):
		return "without memory the kernel is to end a program first"
	case l.Key == "hostname" && l.Value != sandbox.Hostname && p.full() && p.enforced("namespaces") && !p.ownKernel():
		return "the name of this machine is nobody's to know"
	case kind == "mount" && p.full() && p.enforced("namespaces"):
		return p.mountFault(what, l.Value)
	case l.Key == "namespace user" && p.engine(): // has its own where the operator has chosen userns-remap
		return ""
	case kind == "namespace" && l.Value != "its own" && !p.ownKernel() && p.full() && p.enforced("namespaces") && what != "time":
		return "no namespace but that of time is the host's"
	case l.Key == "process cgroup" && p.full() && p.enforced("namespaces") && !rootGroups(l.Value):
		return "the paths of control groups tell about the host"
	case kind == "device" && l.Value == "works" && !slices.Contains(harmless, what):
		return "a device that nobody needs"
	case kind == "reads" && l.Value == "works":
		return p.readFault(what)
	case l.Key == sealed:
		// On kernels before 6.12 it is degraded, and keeps this all the same.
		if state := p.Isolation.Mechanisms["landlock"]; l.Value == "works" && state != "" && state != api.Absent {
			return "a program does not change what was compiled"
		}
	case kind == "writes" && l.Value == "works":
		return "a lever that reaches beyond the program"
	case kind == "outside":
		return p.outsideFault(what, l.Value)
	}
	return ""
}

func (p *Posture) statusFault(what, value string) string {
	switch {
	case slices.Contains(capabilities, what) && what != "CapBnd" && strings.Trim(value, "0") != "":
		return "a program has no capabilities"
	case what == "CapBnd" && strings.Trim(value, "0") != "" && !p.enforced("vm") && (p.full() || p.enforced("uid") && p.own.mayBound):
		return "a program can never have capabilities"
	case what == "NoNewPrivs" && value != "1":
		return "executing a file gives no rights"
	case what == "Seccomp" && value != "2" && p.enforced("seccomp"):
		return "a filter is installed"
	case what == "Groups" && len(strings.Fields(value)) > 1 && p.mayDropGroups():
		return "a program is in one group"
	case what == "Uid" && slices.Contains(strings.Fields(value), "0"):
		return "a program is not root; who starts us as root gives us CHOWN, KILL, SETGID and SETUID, so that it is somebody else"
	case what == "Gid" && slices.Contains(strings.Fields(value), "0") && (p.full() || p.enforced("uid")): // else it has our own group
		return "a program is not in root's group"
	case what == "Umask" && value != "0022" && !p.ownKernel():
		return "others may write what a program makes"
	}
	return ""
}

// mayDropGroups tells whether a program's user is ours to choose: an ordinary user keeps the groups
// that it is in, of which nobody may give up one to whose members something is closed.
func (p *Posture) mayDropGroups() bool { return p.Runtime != "local" || p.enforced("uid") }

// limitFault says what is wrong with a limit of the process's own.
func (p *Posture) limitFault(name, value string) string {
	for _, l := range rlimits {
		switch {
		case l.name != name:
		case name == "core file size" && value != l.most:
			return "nothing dumps core, and no crash starts a handler of the host's: it takes a limit of one byte"
		case !atMost(value, l.most) && (p.Runtime == "local" || !slices.Contains([]string{"nice priority", "realtime priority", "stack size"}, name)):
			return "a program is to have no more than " + l.most
		}
	}
	most := ""
	switch {
	case p.Runtime != "local":
	case name == "file size" && !p.full():
		most = fmt.Sprintf("%d %[1]d", disk.Bytes)
	case name == "data size" && p.Isolation.Limits[sandbox.LimitMemory] == api.Sampled:
		most = fmt.Sprintf("%d %[1]d", 2*limits.MemoryBytes) // a little later than who samples
	case name == "processes" && p.Isolation.Limits[sandbox.LimitProcesses] == api.Enforced && p.unlimited("outside processes"):
		most = fmt.Sprintf("%d %[1]d", limits.Processes)
	}
	if most != "" && !atMost(value, most) {
		return "nothing else holds it, and it is to be no more than " + most
	}
	return ""
}

// unlimited tells whether a figure of the control groups is none.
func (p *Posture) unlimited(key string) bool { return slices.Contains([]string{"", "0"}, p.Value(key)) }

// atMost compares figures, separated by spaces, one by one.
func atMost(value, most string) bool {
	got, want := strings.Fields(value), strings.Fields(most)
	for i := range want {
		if i >= len(got) || figure(got[i]) > figure(want[i]) {
			return false
		}
	}
	return true
}

// figure reads one. What is none is more than any.
func figure(word string) float64 {
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return math.Inf(1)
	}
	return n
}

// writable are the mount points of a container that programs can write to.
var writable = []string{sandbox.WorkspaceDir, sandbox.BuildDir, "/tmp", "/dev", "/proc", "/etc/resolv.conf"}

func (p *Posture) mountFault(target, how string) string {
	kind, list, _ := strings.Cut(how, " ")
	options := strings.Split(list, ",")
	if p.engine() {
		if kind == "tmpfs" && (below(target, "/proc") || below(target, "/sys")) {
			return "" // its masks: an empty directory, or the container's own device that swallows
		}
		options = append(options, "nosuid") // it has no option for it, and no_new_privs stands
		if below(target, "/etc") {
			options = append(options, "nodev") // single files of text
		}
	}
	within := slices.ContainsFunc(writable, func(w string) bool { return below(target, w) })
	device := target == "/" || below(target, "/dev") // the root holds our nodes, and is read-only
	switch {
	case target != "/proc" && below(target, "/proc"): // a mask: nothing, or a device that swallows
		if !slices.Contains(options, "ro") && !slices.Contains(options, "noexec") {
			return "a mask could be written to"
		}
	case !slices.Contains(options, "nosuid"):
		return "set-id files would give rights"
	case !device && !slices.Contains(options, "nodev"):
		return "device nodes could be opened"
	case !within && !slices.Contains(options, "ro"):
		return "it could be written to"
	case target == "/proc" && (kind != "proc" || !slices.Contains(options, "noexec")):
		return "it is where the kernel tells of the container's own processes"
	}
	return ""
}

// below tells whether a clean path is a directory or below it.
func below(name, dir string) bool {
	rest, found := strings.CutPrefix(name, dir)
	return found && (rest == "" || rest[0] == '/')
}

// capabilities are the sets that /proc/self/status has.
var capabilities = []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}

func rootGroups(value string) bool {
	return !slices.ContainsFunc(strings.Fields(value), func(line string) bool { return !strings.HasSuffix(line, ":/") })
}

// harmless are devices that every container has.
var harmless = []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"}

// readFault: at restricted a program sees the root and /proc of the host, as far as
// Landlock and the files' modes let it.
func (p *Posture) readFault(name string) string {
	if !p.full() && below(name, "/proc") && !below(name, "/proc/1") {
		return ""
	}
	if name == "/proc/self/mem" || p.engine() && (name == "/sys/fs/cgroup" || !below(name, "/proc") && !below(name, "/sys")) { // the image's
		return ""
	}
	return "it tells about the host"
}
