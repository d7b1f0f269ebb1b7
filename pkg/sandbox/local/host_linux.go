package local

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/landlock"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// host is what this machine lets us do, as far as it can be told by looking.
// Whether namespaces may be made is told by making them.
type host struct {
	hostRoot
	// root means that we may give out user ids and mount outside of a user
	// namespace.
	root bool
	// mayBound means that capabilities can be taken out of the bounding set.
	mayBound    bool
	landlockABI int               // 0 without Landlock
	cgroups     *cgroup.Hierarchy // nil when this host grants none
	cgroupsErr  error
	oomScore    int   // of programs, see [host.dieFirst]
	childrenErr error // why the kernel does not tell the children of a process; nil if it does
}

func inspectHost(opts Options) host {
	h := host{oomScore: oomScore()}
	held := capabilities()
	h.root, h.mayBound = isRoot(held), held&(1<<unix.CAP_SETPCAP) != 0
	var looking sync.WaitGroup
	looking.Go(func() { h.hostRoot = lookAtHost() })
	_, h.childrenErr = os.Stat("/proc/thread-self/children")
	h.landlockABI, _ = landlock.ABI() // an error means 0: there is none
	if !opts.NoCgroups {
		h.cgroups, h.cgroupsErr = cgroup.Detect(cgroup.Options{})
	} else {
		h.cgroupsErr = fmt.Errorf("control groups are switched off")
	}
	looking.Wait()
	h.tameLoopback = !h.chargesSockets()
	return h
}

// grantsGroups tells whether a process can have a control group here, whatever that counts.
func (h *host) grantsGroups() bool { return h.cgroups != nil && len(h.cgroups.Places()) > 0 }

// oomScore is half the scale above our own, which nobody may go below: Kubernetes
// starts some containers with all of it.
func oomScore() int {
	own := 0
	if b, err := os.ReadFile("/proc/self/oom_score_adj"); err == nil {
		_, _ = fmt.Sscan(string(b), &own)
	}
	return min(max(own, 0)+500, 1000)
}

// dieFirst appends the calls that let the kernel, when it is out of memory, take
// programs before us and other services.
func (h *host) dieFirst(p *spawn.Program) {
	writeFile(p, "/proc/self/oom_score_adj", strconv.Itoa(h.oomScore), 0)
}

// capabilities are the first 32 of those that we have.
func capabilities() uint32 {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return 0
	}
	return data[0].Effective
}

// rootCapabilities are what it takes to give programs ids of their own, to give
// those ids directories and have them back, and to signal them. A container's root
// may lack some, and is an ordinary user then. More is not asked for: files of a
// program's are opened as its user, see [asUser].
const rootCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

// isRoot tells whether we are root with all that belongs to it: the capabilities,
// which go when we take another user, and a user namespace that has our range of ids.
func isRoot(held uint32) bool {
	if os.Geteuid() != 0 || held&rootCapabilities != rootCapabilities {
		return false
	}
	bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	if err != nil || bits&keepsCapabilities != 0 {
		return false
	}
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	return mapsRange(ids, instance.FirstID, instance.EndID)
}

// keepsCapabilities is SECBIT_NO_SETUID_FIXUP (capabilities(7)): who has it keeps those of
// root as another user, and would signal and open what that user may not.
const keepsCapabilities = 1 << 2

// mapsRange tells whether the content of a uid_map has all of [from, to).
func mapsRange(uidMap []byte, from, to int64) bool {
	for line := range bytes.Lines(uidMap) {
		var inside, outside, count int64
		if n, _ := fmt.Sscan(string(line), &inside, &outside, &count); n == 3 && inside <= from && to <= inside+count {
			return true
		}
	}
	return false
}

func (h *host) has(c cgroup.Controller) bool {
	return h.cgroups != nil && h.cgroups.Has(c)
}

// chargesSockets tells whether the buffers of sockets on loopback count towards
// the memory limit, as they do on cgroup v2 alone.
func (h *host) chargesSockets() bool {
	return h.cgroups != nil && h.cgroups.Controllers()[cgroup.Memory].Version == 2
}

func (h *host) cpuHeld() bool { return h.has(cgroup.CPU) }

// limitStates are the states of the limits in a container with these walls.
func (h *host) limitStates(w walls) map[string]string {
	enforcedIf := func(ok bool, otherwise string) string {
		if ok {
			return api.Enforced
		}
		return otherwise
	}
	states := map[string]string{
		sandbox.LimitWallTime:  api.Enforced,
		sandbox.LimitOpenFiles: api.Enforced,
		sandbox.LimitCPUTime:   enforcedIf(h.has(cgroup.CPUAccounting), api.Sampled),
		sandbox.LimitCPUs:      enforcedIf(h.has(cgroup.CPU), api.Degraded),
		sandbox.LimitMemory:    h.memoryState(),
		sandbox.LimitDisk:      enforcedIf(w.namespaces, api.Sampled),
		sandbox.LimitInodes:    enforcedIf(w.namespaces, api.Sampled),
		sandbox.LimitProcesses: h.processesState(w),
	}
	return states
}

// memoryState: a sample of the whole is all that there is without a control group.
func (h *host) memoryState() string {
	switch {
	case !h.has(cgroup.Memory):
		return api.Sampled
	case h.cgroups.SwapsBeside():
		return api.Degraded
	}
	return api.Enforced
}

// processesState: a user namespace counts its own processes; so does a uid of its
// own. Other users share a count with all that they run, and the kernel exempts
// root.
func (h *host) processesState(w walls) string {
	switch {
	case h.has(cgroup.PIDs) || w.namespaces || w.ids && h.root:
		return api.Enforced
	case os.Geteuid() == 0:
		return api.Absent
	}
	return api.Degraded
}

// isolationFull describes a container at full.
func (h *host) isolationFull() sandbox.Isolation {
	i := sandbox.Isolation{
		Level: sandbox.LevelFull,
		Mechanisms: map[string]string{
			"namespaces": api.Enforced,
			"root":       api.Enforced,
			"seccomp":    api.Enforced,
			"landlock":   h.landlockState(),
			"uid":        api.Enforced,
			"signals":    api.Enforced,
			"devices":    api.Enforced,
			"network":    api.Enforced,
			"cgroup":     h.cgroupState(),
		},
		Limits: h.limitStates(wallsFull),
	}
	if !h.root {
		// One id for init and programs, and the host's device inodes.
		i.Mechanisms["uid"], i.Mechanisms["devices"] = api.Degraded, api.Degraded
	}
	i.Warnings = h.limitWarnings(i.Limits)
	return i
}

// isolationOutside describes a container without namespaces.
func (h *host) isolationOutside(w walls, why error) sandbox.Isolation {
	state := func(on bool, s string) string {
		if on {
			return s
		}
		return api.Absent
	}
	i := sandbox.Isolation{
		Level: sandbox.LevelRestricted,
		Mechanisms: map[string]string{
			"namespaces": api.Absent,
			"root":       api.Absent,
			"seccomp":    state(w.seccomp, api.Enforced),
			"landlock":   state(w.landlock, h.landlockState()),
			"uid":        state(w.ids && h.root, api.Enforced),
			"signals":    state(h.signalsConfined(w), api.Enforced),
			"devices":    api.Absent,
			"network":    state(w.seccomp, api.Enforced), // there is none
			"cgroup":     h.cgroupState(),
		},
		Limits: h.limitStates(w),
	}
	if !w.landlock {
		i.Level = sandbox.LevelNone
	}
	if why != nil {
		i.Warnings = append(i.Warnings, fmt.Sprintf("isolation is restricted, not full: %v", why))
	}
	if w.landlock && !h.signalsConfined(w) {
		i.Warnings = append(i.Warnings, "programs can signal other processes of this user: run as root, or on Linux 6.12 or later")
	}
	i.Warnings = append(i.Warnings, h.limitWarnings(i.Limits)...)
	return i
}

// signalsConfined tells whether a program without a pid namespace can signal
// nobody but itself: by a uid of its own, or by Landlock.
func (h *host) signalsConfined(w walls) bool {
	return w.ids && h.root || w.landlock && h.landlockABI >= landlockComplete
}

func (h *host) cgroupState() string {
	switch {
	case h.has(cgroup.Memory) && h.has(cgroup.PIDs) && h.has(cgroup.CPU):
		return api.Enforced
	case h.grantsGroups():
		return api.Degraded
	default: // none can be made, whatever is mounted
		return api.Absent
	}
}

// limitWarnings says in one sentence which limits are weaker than promised.
func (h *host) limitWarnings(states map[string]string) []string {
	var weak []string
	for _, name := range []string{sandbox.LimitMemory, sandbox.LimitCPUs, sandbox.LimitProcesses, sandbox.LimitDisk} {
		if s := states[name]; s != api.Enforced {
			weak = append(weak, name+" is "+s)
		}
	}
	if len(weak) == 0 {
		return nil
	}
	return []string{"limits: " + strings.Join(weak, ", ") + "; sandbox-run doctor tells how to mend it"}
}

// controllerOf is the controller that a limit needs.
func controllerOf(limit string) cgroup.Controller {
	switch limit {
	case sandbox.LimitMemory:
		return cgroup.Memory
	case sandbox.LimitCPUs:
		return cgroup.CPU
	case sandbox.LimitCPUTime:
		return cgroup.CPUAccounting
	default:
		return cgroup.PIDs
	}
}

// whyAbsent says why a limit is not held by a control group.
func (h *host) whyAbsent(limit string) string {
	if h.cgroups == nil {
		if h.cgroupsErr != nil {
			return h.cgroupsErr.Error()
		}
		return "this host grants no control groups"
	}
	return h.cgroups.Controllers()[controllerOf(limit)].Reason
}

// mend is the command that lets a control group hold a limit.
func (h *host) mend(limit string) string {
	if h.cgroups == nil {
		return ""
	}
	return h.cgroups.Controllers()[controllerOf(limit)].Mend
}

// mendNamespaces says how an ordinary user gets namespaces.
func (h *host) mendNamespaces() string {
	for _, s := range []struct{ file, bad, mend string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"},
	} {
		if b, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(b)) == s.bad {
			return "As root: " + s.mend
		}
	}
	return "In Docker or Kubernetes, start the container with --privileged; elsewhere allow user namespaces"
}
