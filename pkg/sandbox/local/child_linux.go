package local

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
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
// the filter, the filter behind all that is taken away (CVE classes of dify-sandbox
// and firedancer).
type child struct {
	p        *spawn.Program
	c        *container
	process  sandbox.Process
	network  sandbox.NetworkMode
	streams  [3]spawn.Arg // what 0, 1 and 2 are
	opened   []spawn.Arg  // descriptors of init's to close afterwards
	terminal bool
	socket   spawn.Arg // that it waits on, if it does
	limits   []spawn.Limit
	cores    []byte // cpu_set_t of the only cores to run on, or nil
	waited   bool   // it has everything but its command
	filter   []byte // seccomp program, 8 bytes an instruction
	notify   uint   // flags of seccomp(2) for a filter that asks, whose listener init sends; else 0
}

// enclose appends all that stands around the program.
func (ch *child) enclose() error {
	p := ch.p
	p.Call("setsid", unix.SYS_SETSID)
	for i, fd := range ch.streams {
		p.Call("dup3", unix.SYS_DUP3, fd, spawn.FD(i), spawn.Value(0))
	}
	// Not closed but closed by execve: the socket tells of failures until then. What waits
	// has a socket of its own, and nothing else.
	rest, how := 3, unix.CLOSE_RANGE_CLOEXEC
	if ch.socket != (spawn.Arg{}) {
		p.Call("dup3", unix.SYS_DUP3, ch.socket, spawn.FD(3), spawn.Value(unix.O_CLOEXEC))
		rest, how = 4, 0
	}
	p.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(rest), spawn.Value(uint32(1<<32-1)), spawn.Value(how))
	if ch.terminal {
		p.Call("ioctl TIOCSCTTY", unix.SYS_IOCTL, spawn.FD(0), spawn.Value(unix.TIOCSCTTY), spawn.Value(0))
	}
	p.Call("umask", unix.SYS_UMASK, spawn.Value(0o022))
	if ch.c.walls.namespaces {
		// The control group is the root of what the program sees of its own.
		p.Call("unshare the cgroup namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWCGROUP))
	}
	if ch.compiles() {
		// What nobody has attached outlives its processes: with its namespace it ends. The
		// container's own is left to the program, which starts sooner.
		p.Call("unshare the compiler's IPC namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWIPC))
	}
	if len(ch.cores) > 0 {
		p.Call("sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, spawn.Value(0), spawn.Value(len(ch.cores)), p.Bytes(ch.cores))
	}
	if ch.c.walls.landlock || ch.c.walls.seccomp {
		p.NoNewPrivileges(unix.SYS_PRCTL)
	}
	if ch.c.walls.landlock {
		if err := ch.landlock(); err != nil {
			return err
		}
	}
	// After Landlock, which needs descriptors.
	for _, l := range ch.limits {
		p.SetLimit(unix.SYS_PRLIMIT64, l)
	}
	if ch.c.walls.ids {
		ch.dropIdentity()
	}
	p.UnblockSignals(unix.SYS_RT_SIGPROCMASK)
	if ch.c.walls.seccomp {
		install := p.Seccomp(unix.SYS_SECCOMP, ch.filter, ch.notify)
		if ch.notify != 0 {
			p.SendFiles(install.Save())
		}
	}
	return nil
}

// compiles tells whether another process will run what this one makes, in the same container.
func (ch *child) compiles() bool {
	return ch.c.walls.namespaces && ch.c.spec.BuildDisk.Bytes > 0 && ch.process.MayWrite(sandbox.BuildDir)
}

// become appends the program itself.
func (ch *child) become() {
	ch.p.Chdir(unix.SYS_CHDIR, ch.process.Dir)
	env := ch.process.Env
	if fault.Off("environment", "of the server") {
		env = append(os.Environ(), env...) //nolint:forbidigo // this is what must not happen
	}
	if ch.waited {
		ch.p.Ready()
	}
	ch.p.Exec(unix.SYS_EXECVE, ch.process.Args, env)
}

// lastCapability is CAP_CHECKPOINT_RESTORE, the newest in Linux 6.18; numbers
// that a kernel does not have are EINVAL. everyCapability is CAP_AUDIT_READ, the last that
// each kernel that this runs on has: of those none may stay.
const (
	lastCapability  = 40
	everyCapability = 37
)

// dropBounds appends what leaves no capability in the bounding set, which children inherit,
// but those of some of the first 32.
func dropBounds(p *spawn.Program, but uint32) {
	for capability := 0; capability <= lastCapability; capability++ {
		if but>>capability&1 != 0 {
			continue
		}
		drop := p.Call("prctl PR_CAPBSET_DROP", unix.SYS_PRCTL, spawn.Value(unix.PR_CAPBSET_DROP), spawn.Value(capability), spawn.Value(0), spawn.Value(0), spawn.Value(0))
		if capability > everyCapability {
			drop.Allow(unix.EINVAL)
		}
	}
}

// dropIdentity leaves nothing but the sandbox user: no capability in any set,
// no supplementary group. The bounding set, which is a limit and gives nothing,
// was emptied by an init with namespaces, and stays where we may not change it: under
// PR_SET_NO_NEW_PRIVS no execve adds a capability to none.
func (ch *child) dropIdentity() {
	p := ch.p
	id := ch.c.identity
	if !ch.c.walls.namespaces && id.root && ch.c.rt.host.mayBound || fault.Off("namespace", "user") {
		dropBounds(p, 0)
	}
	if id.root {
		user := sandbox.UserID // inside; without a user namespace there is only the host's number
		if !ch.c.walls.namespaces || fault.Off("namespace", "user") {
			user = id.id + 1
		}
		u := spawn.Value(user)
		p.Call("setgroups", unix.SYS_SETGROUPS, spawn.Value(0), spawn.Value(0))
		p.Call("setresgid", unix.SYS_SETRESGID, u, u, u)
		p.Call("setresuid", unix.SYS_SETRESUID, u, u, u)
	}
	p.HoldOnly(unix.SYS_CAPSET, 0)
}
