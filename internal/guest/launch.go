package guest

import (
	"encoding/binary"
	"fmt"

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
	p.SetWindowSize(c.calls.ioctl, master, size.Rows, size.Cols)
	p.Call("ioctl TIOCSPTLCK", c.calls.ioctl, master, spawn.Value(tiocSPTLCK), p.Bytes(make([]byte, 4)))
	number := p.Answer(4)
	p.Call("ioctl TIOCGPTN", c.calls.ioctl, master, spawn.Value(tiocGPTN), number)
	p.Carry(0, master)
	p.Carry(1, master)
	reply, err := c.do(&p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/dev/pts/%d", binary.NativeEndian.Uint32(number.Of(reply, 4))), nil
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
	p.NoNewPrivileges(c.prctl)
	for _, limit := range rlimits(l.process.Limits) {
		call := p.SetLimit(c.prlimit64, limit.Limit)
		if limit.spare {
			call.Allow(ePERM)
		}
	}
	p.Chdir(c.chdir, l.process.Dir)
	p.UnblockSignals(c.rtSigprocmask)
	if len(l.filter) > 0 {
		p.Seccomp(c.seccomp, l.filter, 0)
	}
	p.Exec(c.execve, l.process.Args, l.process.Env)
}

// rlimit is one resource limit of the child.
type rlimit struct {
	spawn.Limit
	// spare limits nobody has asked for; gVisor lets some of them be as they are.
	spare bool
}

// rlimits are the limits of a process, beside those of the container.
func rlimits(l sandbox.Limits) []rlimit {
	limits := []rlimit{
		{spawn.Limit{Name: "core", Resource: rlimitCORE, Soft: 1, Hard: 1}, false}, // see seccomp's rule for it
		{spawn.Limit{Name: "memlock", Resource: rlimitMEMLOCK, Soft: 64 << 10, Hard: 64 << 10}, true},
		{spawn.Limit{Name: "msgqueue", Resource: rlimitMSGQUEUE}, true},
		// Of the process and not of its container: what makes a user namespace with a low
		// limit has it hold for all such namespaces together.
		{spawn.Limit{Name: "sigpending", Resource: rlimitSIGPENDING, Soft: 1024, Hard: 1024}, true},
	}
	add := func(name string, resource int, value int64) {
		if value > 0 {
			limits = append(limits, rlimit{spawn.Limit{Name: name, Resource: resource, Soft: uint64(value), Hard: uint64(value)}, false})
		}
	}
	add("nofile", rlimitNOFILE, l.OpenFiles)
	add("fsize", rlimitFSIZE, l.FileSizeBytes)
	if l.CPUTime > 0 {
		limits = append(limits, rlimit{spawn.CPULimit(l.CPUTime), false})
	}
	return limits
}
