package guest

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// launcher writes the calls that start a process.
type launcher struct {
	p       *spawn.Program
	calls   calls
	process sandbox.Process
	filter  []byte // seccomp program, 8 bytes an instruction; empty for none
	slave   string // the program's side of its terminal
	theirs  [3]spawn.Arg
}

// Steps whose failure is the request's fault.
const (
	chdirStep = "chdir to the working directory"
	execStep  = "execve"
)

func (l *launcher) build() {
	if l.process.TTY != nil {
		slave := l.open(l.slave, oRDWR|oNOCTTY)
		l.theirs = [3]spawn.Arg{slave, slave, slave}
	} else {
		l.pipes()
	}
	flags := spawn.Value(cloneVFORK | sigchld)
	l.p.Fork("fork", l.calls.clone, []spawn.Arg{flags, spawn.Value(0)}, l.child)
}

// pipes makes a pipe for each stream that is carried, and takes /dev/null for the
// others.
func (l *launcher) pipes() {
	carried := [3]bool{l.process.Stdin != nil, l.process.Stdout != nil, l.process.Stderr != nil}
	for stream := range 3 {
		if !carried[stream] {
			l.theirs[stream] = l.open("/dev/null", oRDWR)
			continue
		}
		ends := l.p.Bytes(make([]byte, 8)) // to read from, to write to
		l.p.Call("pipe2", l.calls.pipe2, ends, spawn.Value(oCLOEXEC))
		ours, theirs := l.p.Cell(ends, 0), l.p.Cell(ends, 4)
		if stream == 0 {
			ours, theirs = theirs, ours
		}
		// A program can read what it has written before init does, and fill what it
		// is to read: init waits for neither.
		l.nonblock(ours)
		l.p.Carry(stream, ours)
		l.theirs[stream] = theirs
	}
}

// openTerminal makes a terminal, of which our side is carried as what the program
// reads and as what it writes, and returns the name of the other.
func (c *Container) openTerminal(size sandbox.TTY) (slave string, err error) {
	var p spawn.Program
	l := launcher{p: &p, calls: c.calls}
	master := l.open("/dev/ptmx", oRDWR|oNOCTTY)
	l.nonblock(master)
	p.Call("ioctl TIOCSWINSZ", c.calls.ioctl, master, spawn.Value(tiocSWINSZ), p.Bytes(winsize(size.Rows, size.Cols)))
	p.Call("ioctl TIOCSPTLCK", c.calls.ioctl, master, spawn.Value(tiocSPTLCK), p.Bytes(make([]byte, 4)))
	number := p.Answer(4)
	p.Call("ioctl TIOCGPTN", c.calls.ioctl, master, spawn.Value(tiocGPTN), number)
	p.Carry(0, master)
	p.Carry(1, master)
	reply, err := c.init.Do(&p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/dev/pts/%d", binary.NativeEndian.Uint32(number.Of(reply, 4))), nil
}

// winsize is struct winsize: rows, columns, pixels.
func winsize(rows, cols uint16) []byte {
	b := make([]byte, 8)
	binary.NativeEndian.PutUint16(b, rows)
	binary.NativeEndian.PutUint16(b[2:], cols)
	return b
}

func (l *launcher) open(name string, flags int) spawn.Arg {
	return l.p.Call("open "+name, l.calls.openat, spawn.FD(atFDCWD), l.p.String(name), spawn.Value(flags|oCLOEXEC), spawn.Value(0)).Save()
}

func (l *launcher) nonblock(fd spawn.Arg) {
	l.p.Call("fcntl F_SETFL", l.calls.fcntl, fd, spawn.Value(fSETFL), spawn.Value(oNONBLOCK))
}

// child is what the forked child does to become the program. Everything else that
// confines it confines init as well.
func (l *launcher) child() {
	p, c := l.p, l.calls
	p.Call("setsid", c.setsid)
	for i, fd := range l.theirs {
		p.Call("dup3", c.dup3, fd, spawn.FD(i), spawn.Value(0))
	}
	if l.process.TTY != nil {
		p.Call("ioctl TIOCSCTTY", c.ioctl, spawn.FD(0), spawn.Value(tiocSCTTY), spawn.Value(0))
	}
	p.Call("umask", c.umask, spawn.Value(0o022))
	p.Call("prctl PR_SET_NO_NEW_PRIVS", c.prctl, spawn.Value(prSETNoNewPrivs), spawn.Value(1), spawn.Value(0), spawn.Value(0), spawn.Value(0))
	for _, limit := range rlimits(l.process.Limits) {
		value := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, limit.soft), limit.hard)
		call := p.Call("setrlimit "+limit.name, c.prlimit64, spawn.Value(0), spawn.Value(limit.resource), p.Bytes(value), spawn.Value(0))
		if limit.spare {
			call.Allow(ePERM)
		}
	}
	p.Call(chdirStep, c.chdir, p.String(l.process.Dir))
	p.Call("rt_sigprocmask", c.rtSigprocmask, spawn.Value(sigSETMASK), p.Bytes(make([]byte, 8)), spawn.Value(0), spawn.Value(8))
	if len(l.filter) > 0 {
		l.seccomp()
	}
	l.exec()
}

// seccomp installs the filter: the last step but one, so that only what a starter
// needs for execve must pass it.
func (l *launcher) seccomp() {
	const setModeFilter = 1                                                           // SECCOMP_SET_MODE_FILTER
	program := binary.NativeEndian.AppendUint64(nil, uint64(uint16(len(l.filter)/8))) // struct sock_fprog: length, pointer
	fprog := l.p.Bytes(append(program, make([]byte, 8)...))
	l.p.SetPointer(fprog, 8, l.p.Bytes(l.filter))
	l.p.Call("install the seccomp filter", l.calls.seccomp, spawn.Value(setModeFilter), spawn.Value(0), fprog)
}

// exec replaces the child by the program. A name without a slash is tried in each
// directory of PATH, as execvp does.
func (l *launcher) exec() {
	p := l.p
	argv, envp := p.Strings(l.process.Args), p.Strings(l.process.Env)
	candidates := programPaths(l.process.Args[0], l.process.Env)
	for i, name := range candidates {
		call := p.Call(execStep, l.calls.execve, p.String(name), argv, envp)
		if i < len(candidates)-1 {
			call.Allow(eNOENT)
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

// rlimit is one resource limit of the child.
type rlimit struct {
	name       string
	resource   int
	soft, hard uint64
	// spare limits nobody has asked for; gVisor lets some of them be as they are.
	spare bool
}

// rlimits are the limits of a process, beside those of the container.
func rlimits(l sandbox.Limits) []rlimit {
	limits := []rlimit{
		{"core", rlimitCORE, 0, 0, false},
		{"memlock", rlimitMEMLOCK, 64 << 10, 64 << 10, true},
		{"msgqueue", rlimitMSGQUEUE, 0, 0, true},
	}
	add := func(name string, resource int, soft, hard int64) {
		if soft > 0 {
			limits = append(limits, rlimit{name, resource, uint64(soft), uint64(hard), false})
		}
	}
	add("nofile", rlimitNOFILE, l.OpenFiles, l.OpenFiles)
	add("fsize", rlimitFSIZE, l.FileSizeBytes, l.FileSizeBytes)
	if l.CPUTime > 0 { // a backstop for one process; the tree is held by its clock
		seconds := int64(math.Ceil(l.CPUTime.Seconds())) + 1
		add("cpu", rlimitCPU, seconds, seconds+1)
	}
	return limits
}
