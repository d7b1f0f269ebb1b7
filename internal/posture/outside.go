package posture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// outsideFault says what is wrong with what the host sees.
func (p *Posture) outsideFault(what, value string) string {
	who, what, _ := strings.Cut(what, " ")
	switch {
	case who == "" && value != "seen" && (p.Runtime == "local" || p.Runtime == "oci" && !p.ownKernel()):
		return "nothing is known of a process that the host does not see"
	case who == "limits" && p.enforced("cgroup") && !p.engine(): // whose groups may be out of our sight
		return "nothing is known of control groups that cannot be read"
	case who == "memory" && p.Isolation.Limits[sandbox.LimitMemory] == api.Enforced && !p.bounded(value, mebibytes(limits.MemoryBytes+initMemory)),
		who == "processes" && p.enforced("cgroup") && !p.bounded(value, fmt.Sprint(limits.Processes+1)), // init, while it forks
		who == "cores" && p.Isolation.Limits[sandbox.LimitCPUs] == api.Enforced && !p.bounded(value, fmt.Sprint(limits.CPUs)):
		return "its control groups hold less than they should"
	case !p.own.mayTrace && (unseen(value) || who == "init" && what == ""): // what a program has is told from inside
		return ""
	case (who == "init" || who == "process") && what == "":
		return "nothing is known of a process whose status cannot be read"
	case what == "namespaces of ours":
		return p.sharedFault(who, value)
	case who == "process":
		return p.processFault(what, value)
	case who == "init" && p.Runtime == "local":
		return p.initFault(what, value)
	case who == "init":
		return p.guestFault(what, value)
	}
	return ""
}

// initMemory is more than an OCI container may have beside what its programs may.
const initMemory = 8 << 20

// bounded tells whether a figure of the control groups is a limit, and no higher one: what stands
// around us may hold us, and with us all, to less. An engine's groups may be out of our sight.
func (p *Posture) bounded(value, most string) bool {
	n, _, _ := strings.Cut(value, " ")
	return atMost(value, most) && (p.engine() || figure(n) > 0)
}

// mebibytes writes an amount of memory.
func mebibytes(n int64) string { return fmt.Sprintf("%g MiB", float64(n)/(1<<20)) }

// unseen tells whether the kernel let us look at nothing of it.
func unseen(value string) bool {
	words := strings.Fields(value)
	return len(words) > 0 && len(words) <= 2 && words[len(words)-1] == "EACCES" // or so many of it
}

// sharedFault is about the kinds of namespaces that a process has in common with us, or what
// stands in their place where they cannot be read.
func (p *Posture) sharedFault(who, kinds string) string {
	if !p.full() || !p.enforced("namespaces") {
		return ""
	}
	fine := []string{"time"}
	switch {
	case p.engine(): // has a user namespace where the operator has chosen userns-remap
		fine = append(fine, "user")
	case who == "init" && p.Runtime == "local": // moves each program into its control group
		fine = append(fine, "cgroup")
	}
	if slices.ContainsFunc(strings.Fields(kinds), func(kind string) bool { return !slices.Contains(fine, kind) }) {
		return "no namespace but that of time is the host's"
	}
	return ""
}

// processFault is about the program.
func (p *Posture) processFault(what, value string) string {
	switch {
	case (what == "user" || what == "group") && (p.enforced("uid") && value != "its own" || p.engine() && value == "root"):
		return "a program has a user of its own"
	case what == "descriptors" && strange(value, map[string]float64{"pipe": 4, "anon_inode": 4, "/dev/null": 1}):
		return "a program has its streams and what it opens itself, and nothing of the host's"
	}
	return p.statusFault(what, value)
}

// initFault is about local's init. It has every capability in the user namespaces that it has
// made, and no filter: a program sees nothing of it and cannot signal it. Without namespaces it
// is as we are.
func (p *Posture) initFault(what, value string) string {
	switch {
	case what == "descriptors" && strange(value, map[string]float64{"anon_inode": 1, "socket": 1, "/dev/null": 3}):
		return "init has its socket, and nothing of ours"
	case !p.full():
	case what == "CapBnd" && strings.Trim(value, "0") != "":
		return "nothing that init starts can have a capability of the host's"
	case !p.enforced("uid"):
	case (what == "user" || what == "group") && value != "its own":
		return "init has a user of its own"
	case what == "Groups" && value != "":
		return "init is in none of our groups"
	}
	return ""
}

// guestFault is about the init of a container that something else has made: it is a program like
// those that it starts.
func (p *Posture) guestFault(what, value string) string {
	switch {
	case what == "descriptors" && strange(value, map[string]float64{"pipe": 100, "anon_inode": 100, "socket": 100, "/dev/null": 100}):
		return "init has its streams and those of programs, and nothing of the host's"
	case what == "user" && value == "root":
		return "init is not root"
	case what == "Seccomp" && p.engine(): // without a filter of its own, where the engine takes none
		return ""
	}
	return p.statusFault(what, value)
}

// strange tells whether a process has something open besides so many of each kind.
func strange(descriptors string, most map[string]float64) bool {
	return slices.ContainsFunc(strings.Split(descriptors, ", "), func(some string) bool {
		n, kind, _ := strings.Cut(some, " ")
		return figure(n) > most[kind]
	})
}
