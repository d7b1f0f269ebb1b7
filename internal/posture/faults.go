package posture

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Faults says what of a posture is not as the isolation promises: nothing, where all
// is well. It holds the posture against the mechanisms that the runtime calls enforced,
// for a container without a network, and against the rule of its level.
func (p *Posture) Faults() (faults []string) {
	if p.Isolation.Level == sandbox.LevelNone {
		return nil // which promises nothing
	}
	for _, l := range p.Lines {
		if want := p.fault(l); want != "" {
			faults = append(faults, fmt.Sprintf("%s is %q: %s", l.Key, l.Value, want))
		}
	}
	for _, key := range needed {
		if p.Value(key) == "" && !(p.ownKernel() && key == "status NoNewPrivs") { // which gVisor's /proc has not
			faults = append(faults, key+" was not seen: what nobody has looked at is not in order")
		}
	}
	return append(faults, p.calls()...)
}

// sealed is whether a file can be made in the build directory in the run phase. Where the
// runtime has Landlock that alone keeps a program from it: at [sandbox.LevelFull] nothing
// else that a program can try tells whether it is there.
const sealed = "writes " + sandbox.BuildDir

// needed are lines without which nothing is proven.
var needed = []string{"outside", "descriptors", sealed, "environment", "status Uid", "status CapEff", "status CapBnd", "status NoNewPrivs", "status Seccomp", "socket 2", "call 0", "call 1023"}

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
	case l.Key == "limit core file size" && l.Value != "1 1" && !p.ownKernel():
		return "nothing dumps core, and no crash starts a handler of the host's: it takes a limit of one byte"
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
	case kind == "socket":
		return p.socketFault(what, l.Value)
	case kind == "outside" && p.Runtime == "local":
		return p.outsideFault(what, l.Value)
	}
	return ""
}

// outsideFault says what is wrong with what the host sees of a process of local's.
func (p *Posture) outsideFault(what, value string) string {
	who, what, _ := strings.Cut(what, " ")
	switch {
	case who == "" && value != "seen":
		return "nothing is known of a process that the host does not see"
	case who == "limits" && p.enforced("cgroup"):
		return "nothing is known of control groups that cannot be read"
	case (who == "init" || who == "process") && what == "":
		return "nothing is known of a process whose status cannot be read"
	case who == "memory" && p.Isolation.Limits[sandbox.LimitMemory] == api.Enforced && value != mebibytes(limits.MemoryBytes),
		who == "processes" && p.enforced("cgroup") && value != fmt.Sprint(limits.Processes),
		who == "cores" && p.Isolation.Limits[sandbox.LimitCPUs] == api.Enforced && value != fmt.Sprint(limits.CPUs):
		return "its control groups hold another limit"
	case who == "process" && what == "user" && p.enforced("uid") && value != "its own":
		return "a program has a user of its own"
	case who == "process" && what == "descriptors" && strange(value):
		return "a program has its streams and what it opens itself, and nothing of the host's"
	case who == "process" && what == "NoNewPrivs" && value != "1":
		return "executing a file gives no rights"
	case who == "process" && slices.Contains([]string{"CapEff", "CapBnd", "Seccomp"}, what):
		return p.statusFault(what, value)
	case what == "namespaces of ours" && p.full() && slices.ContainsFunc(strings.Fields(value), func(n string) bool { return hostly(who, n) }):
		return "no namespace but that of time is the host's"
	}
	return ""
}

// strange tells whether a process has something open that neither is a stream nor what the init that
// looks opens for itself.
func strange(descriptors string) bool {
	return slices.ContainsFunc(strings.Split(descriptors, ", "), func(some string) bool {
		_, kind, _ := strings.Cut(some, " ")
		return !slices.Contains([]string{"pipe", "anon_inode", "/dev/null"}, kind)
	})
}

// mebibytes writes an amount of memory.
func mebibytes(n int64) string { return fmt.Sprintf("%g MiB", float64(n)/(1<<20)) }

// hostly tells whether a kind of namespace that a process has in common with the host, or what stands
// in its place where that cannot be seen, should not be. Init may be out of sight, and sees the
// host's control groups.
func hostly(who, kind string) bool {
	if who == "process" {
		return kind != "time"
	}
	return slices.Contains([]string{"ipc", "mnt", "net", "pid", "user", "uts"}, kind)
}

func (p *Posture) statusFault(what, value string) string {
	switch {
	case slices.Contains(capabilities, what) && what != "CapBnd" && strings.Trim(value, "0") != "":
		return "a program has no capabilities"
	case what == "CapBnd" && strings.Trim(value, "0") != "" && p.full() && !p.enforced("vm"):
		return "a program can never have capabilities"
	case what == "NoNewPrivs" && value != "1" && p.enforced("no_new_privs"):
		return "executing a file gives no rights"
	case what == "Seccomp" && value != "2" && p.enforced("seccomp"):
		return "a filter is installed"
	case what == "Groups" && len(strings.Fields(value)) > 1:
		return "a program is in one group"
	case what == "Uid" && slices.Contains(strings.Fields(value), "0"):
		return "a program is not root"
	}
	return ""
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

// socketFault: without a network AF_UNIX alone is left.
func (p *Posture) socketFault(family, value string) string {
	if !p.enforced("seccomp") || family == "1" || !strings.Contains(value, "works") {
		return ""
	}
	return "without a network there are sockets of AF_UNIX alone"
}

// calls holds the answers to system calls against the policy.
func (p *Posture) calls() (faults []string) {
	if !p.enforced("seccomp") {
		return nil
	}
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return []string{err.Error()}
	}
	policy, err := seccomp.NewInterpreter(seccomp.Default(seccomp.Options{Restricted: !p.full(), AllowAffinity: true}), arch)
	if err != nil {
		return []string{err.Error()}
	}
	for _, l := range p.Lines {
		number, isCall := strings.CutPrefix(l.Key, "call ")
		n, err := strconv.Atoi(number)
		if !isCall || err != nil {
			continue
		}
		action, why := policy.Decide(n, [6]uint64{allBits, allBits, allBits, allBits, allBits, allBits})
		if errno, fails := action.Errno(); fails && l.Value != errno.String() {
			faults = append(faults, fmt.Sprintf("system call %d (%s) answers %s: the policy refuses it with %s %s", n, arch.Name(n), l.Value, errno, why))
		}
	}
	return faults
}
