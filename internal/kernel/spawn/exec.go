package spawn

import (
	"encoding/binary"
	"math"
	"path"
	"strings"
	"syscall"
	"time"
)

// What follows are steps of a child that becomes a program. The numbers of the
// calls are the caller's to know: init may be of another architecture than we.

// Steps whose failure is the fault of who asked for the program.
const (
	ChdirStep = "chdir to the working directory"
	ExecStep  = "execve"
)

// Limit is a resource limit of a process, see setrlimit(2).
type Limit struct {
	Name       string
	Resource   int
	Soft, Hard uint64
}

// CPULimit holds one process to a CPU time that a clock holds its tree to: it
// comes a second later, for when the clock does not.
func CPULimit(t time.Duration) Limit {
	const rlimitCPU = 0
	seconds := uint64(math.Ceil(t.Seconds())) + 1
	return Limit{"cpu", rlimitCPU, seconds, seconds + 1}
}

// SetLimit appends prlimit64, of the process itself.
func (p *Program) SetLimit(prlimit64 int, l Limit) Call {
	value := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, l.Soft), l.Hard)
	return p.Call("setrlimit "+l.Name, prlimit64, Value(0), Value(l.Resource), p.Bytes(value), Value(0))
}

// SetWindowSize appends the ioctl that tells a terminal how large it is.
func (p *Program) SetWindowSize(ioctl int, terminal Arg, rows, cols uint16) Call {
	const tiocSWINSZ = 0x5414
	size := make([]byte, 8) // struct winsize: rows, columns, pixels
	binary.NativeEndian.PutUint16(size, rows)
	binary.NativeEndian.PutUint16(size[2:], cols)
	return p.Call("ioctl TIOCSWINSZ", ioctl, terminal, Value(tiocSWINSZ), p.Bytes(size))
}

// NoNewPrivileges appends the prctl after which no execve gives privileges.
func (p *Program) NoNewPrivileges(prctl int) {
	const prSetNoNewPrivs = 38
	p.Call("prctl PR_SET_NO_NEW_PRIVS", prctl, Value(prSetNoNewPrivs), Value(1), Value(0), Value(0), Value(0))
}

// Chdir appends the change to the program's working directory.
func (p *Program) Chdir(chdir int, dir string) { p.Call(ChdirStep, chdir, p.String(dir)) }

// UnblockSignals appends rt_sigprocmask: init has signals blocked, and execve
// leaves them so.
func (p *Program) UnblockSignals(rtSigprocmask int) {
	const sigSetmask = 2
	p.Call("rt_sigprocmask", rtSigprocmask, Value(sigSetmask), p.Bytes(make([]byte, 8)), Value(0), Value(8))
}

// HoldOnly appends capset: the process keeps none of its capabilities but some of the
// first 32, effective and permitted.
func (p *Program) HoldOnly(capset int, capabilities uint32) {
	const version3 = 0x20080522 // _LINUX_CAPABILITY_VERSION_3
	header := make([]byte, 8)   // version, and a pid: 0 is our own
	binary.NativeEndian.PutUint32(header, version3)
	sets := make([]byte, 24) // effective, permitted, inheritable, and the same of the others
	binary.NativeEndian.PutUint32(sets, capabilities)
	binary.NativeEndian.PutUint32(sets[4:], capabilities)
	p.Call("capset", capset, p.Bytes(header), p.Bytes(sets))
}

// Seccomp appends the installation of a filter, 8 bytes an instruction. It belongs
// behind all that takes something away: what is appended after it must pass the filter, and
// what a child that waits does, too (recvmsg, sendto, openat, dup3, chdir, execve).
func (p *Program) Seccomp(seccomp int, filter []byte, flags uint) Call {
	const setModeFilter = 1                                                         // SECCOMP_SET_MODE_FILTER
	program := binary.NativeEndian.AppendUint64(nil, uint64(uint16(len(filter)/8))) // struct sock_fprog: length, pointer
	fprog := p.Bytes(append(program, make([]byte, 8)...))
	p.SetPointer(fprog, 8, p.Bytes(filter))
	return p.Call("install the seccomp filter", seccomp, Value(setModeFilter), Value(flags), fprog)
}

// Exec appends what replaces the child by a program. A name without a slash is
// tried in each directory of PATH, as execvp does.
func (p *Program) Exec(execve int, args, env []string) {
	const noEntry = syscall.Errno(2) // ENOENT, in Linux
	argv, envp := p.Strings(args), p.Strings(env)
	candidates := programPaths(args[0], env)
	for i, name := range candidates {
		call := p.Call(ExecStep, execve, p.String(name), argv, envp)
		if i < len(candidates)-1 {
			call.Allow(noEntry)
		}
	}
}

func programPaths(program string, env []string) []string {
	if strings.Contains(program, "/") {
		return []string{program}
	}
	var paths []string
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			paths = nil // the last one wins
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
