package local

import (
	"encoding/binary"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// walls are the mechanisms that stand around a program; a level is a set of
// them.
type walls struct {
	namespaces bool // and an own root
	landlock   bool
	seccomp    bool
	ids        bool // an own uid, no capabilities
}

var (
	wallsFull       = walls{namespaces: true, landlock: true, seccomp: true, ids: true}
	wallsRestricted = walls{landlock: true, seccomp: true, ids: true}
	wallsNone       = walls{}
)

// child appends what a forked child does to become the program: take its
// streams, give up everything else, and execute. The order matters: ids before
// the filter, the filter last (CVE classes of dify-sandbox and firedancer).
type child struct {
	p        *spawn.Program
	c        *container
	process  sandbox.Process
	network  sandbox.NetworkMode
	streams  [3]spawn.Arg // what 0, 1 and 2 are
	opened   []spawn.Arg  // descriptors of init's to close afterwards
	terminal bool
	limits   []rlimit
	cores    []byte // cpu_set_t of the only cores to run on, or nil
	filter   []byte // seccomp program, 8 bytes an instruction
	notify   uint   // flags of seccomp(2) for a filter that asks, whose listener init sends; else 0
}

func (ch *child) build() error {
	p := ch.p
	p.Call("setsid", unix.SYS_SETSID)
	for i, fd := range ch.streams {
		p.Call("dup3", unix.SYS_DUP3, fd, spawn.FD(i), spawn.Value(0))
	}
	// Not closed but closed by execve: the socket tells of failures until then.
	p.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(3), spawn.Value(uint32(1<<32-1)), spawn.Value(unix.CLOSE_RANGE_CLOEXEC))
	if ch.terminal {
		p.Call("ioctl TIOCSCTTY", unix.SYS_IOCTL, spawn.FD(0), spawn.Value(unix.TIOCSCTTY), spawn.Value(0))
	}
	p.Call("umask", unix.SYS_UMASK, spawn.Value(0o022))
	if ch.c.walls.namespaces {
		// The control group is the root of what the program sees of its own.
		p.Call("unshare the cgroup namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWCGROUP))
	}
	if len(ch.cores) > 0 {
		p.Call("sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, spawn.Value(0), spawn.Value(len(ch.cores)), p.Bytes(ch.cores))
	}
	if ch.c.walls.landlock || ch.c.walls.seccomp {
		p.Call("prctl PR_SET_NO_NEW_PRIVS", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_NO_NEW_PRIVS), spawn.Value(1), spawn.Value(0), spawn.Value(0), spawn.Value(0))
	}
	if ch.c.walls.landlock {
		if err := ch.landlock(); err != nil {
			return err
		}
	}
	// After Landlock, which needs descriptors.
	for _, l := range ch.limits {
		l.set(p)
	}
	if ch.c.walls.ids {
		ch.dropIdentity()
	}
	p.Call(chdirStep, unix.SYS_CHDIR, p.String(ch.process.Dir))
	p.Call("rt_sigprocmask", unix.SYS_RT_SIGPROCMASK, spawn.Value(unix.SIG_SETMASK), p.Bytes(make([]byte, 8)), spawn.Value(0), spawn.Value(8))
	if ch.c.walls.seccomp {
		ch.seccomp()
	}
	ch.exec()
	return nil
}

// lastCapability is CAP_CHECKPOINT_RESTORE, the newest in Linux 6.18; numbers
// that a kernel does not have are EINVAL.
const lastCapability = 40

// dropIdentity leaves nothing but the sandbox user: no capability in any set,
// no supplementary group. The bounding set, which is a limit and gives nothing,
// stays where we may not change it: under PR_SET_NO_NEW_PRIVS no execve adds a
// capability to none.
func (ch *child) dropIdentity() {
	p := ch.p
	id := ch.c.identity
	if ch.c.walls.namespaces || id.root && ch.c.rt.host.mayBound {
		for capability := 0; capability <= lastCapability; capability++ {
			p.Call("prctl PR_CAPBSET_DROP", unix.SYS_PRCTL, spawn.Value(unix.PR_CAPBSET_DROP), spawn.Value(capability), spawn.Value(0), spawn.Value(0), spawn.Value(0)).Allow(unix.EINVAL)
		}
	}
	if id.root {
		user := sandbox.UserID // inside; without a user namespace there is only the host's number
		if !ch.c.walls.namespaces {
			user = id.id + 1
		}
		u := spawn.Value(user)
		p.Call("setgroups", unix.SYS_SETGROUPS, spawn.Value(0), spawn.Value(0))
		p.Call("setresgid", unix.SYS_SETRESGID, u, u, u)
		p.Call("setresuid", unix.SYS_SETRESUID, u, u, u)
	}
	header := binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	header = binary.NativeEndian.AppendUint32(header, 0)
	p.Call("capset", unix.SYS_CAPSET, p.Bytes(header), p.Bytes(make([]byte, 24)))
}

// seccomp installs the filter.
func (ch *child) seccomp() {
	const setModeFilter = 1                                                            // SECCOMP_SET_MODE_FILTER
	program := binary.NativeEndian.AppendUint64(nil, uint64(uint16(len(ch.filter)/8))) // struct sock_fprog: length, pointer
	fprog := ch.p.Bytes(append(program, make([]byte, 8)...))
	ch.p.SetPointer(fprog, 8, ch.p.Bytes(ch.filter))
	install := ch.p.Call("install the seccomp filter", unix.SYS_SECCOMP, spawn.Value(setModeFilter), spawn.Value(ch.notify), fprog)
	if ch.notify != 0 {
		ch.p.SendFiles(install.Save())
	}
}

// exec replaces the child by the program. A name without a slash is tried in
// each directory of PATH, as execvp does.
func (ch *child) exec() {
	p := ch.p
	argv, envp := p.Strings(ch.process.Args), p.Strings(ch.process.Env)
	candidates := programPaths(ch.process.Args[0], ch.process.Env)
	for i, name := range candidates {
		call := p.Call(execStep, unix.SYS_EXECVE, p.String(name), argv, envp)
		if i < len(candidates)-1 {
			call.Allow(unix.ENOENT)
		}
	}
}

// Steps whose failure is the request's fault.
const (
	chdirStep = "chdir to the working directory"
	execStep  = "execve"
)

func programPaths(program string, env []string) []string {
	if strings.Contains(program, "/") {
		return []string{program}
	}
	var paths []string
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			for dir := range strings.SplitSeq(list, ":") {
				paths = append(paths, path.Join("/", dir, program))
			}
		}
	}
	if len(paths) == 0 {
		return []string{program}
	}
	return paths
}
