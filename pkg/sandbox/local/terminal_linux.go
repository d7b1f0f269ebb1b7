package local

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// openTerminal appends the calls that make a terminal in the container. It
// returns the program's side and hands ours over.
func (c *container) openTerminal(p *spawn.Program, size sandbox.TTY) (slave spawn.Arg) {
	ptmx := "/dev/ptmx"
	if c.walls.namespaces {
		ptmx = "/dev/pts/ptmx" // the container's own instance
	}
	master := p.Call("open "+ptmx, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(ptmx), spawn.Value(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)).Save()
	p.SetWindowSize(unix.SYS_IOCTL, master, size.Rows, size.Cols)
	unlock := p.Bytes(make([]byte, 4))
	p.Call("ioctl TIOCSPTLCK", unix.SYS_IOCTL, master, spawn.Value(unix.TIOCSPTLCK), unlock)
	slave = p.Call("ioctl TIOCGPTPEER", unix.SYS_IOCTL, master, spawn.Value(unix.TIOCGPTPEER), spawn.Value(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)).Save()
	if user := c.programUserInside(); user >= 0 {
		p.Call("chown the terminal", unix.SYS_FCHOWN, slave, spawn.Value(user), spawn.Value(user))
	}
	p.SendFiles(master)
	p.Call("close", unix.SYS_CLOSE, master)
	return slave
}

// programUserInside is the id that programs of this container run as, in the
// namespace of init; -1 means that it is init's own.
func (c *container) programUserInside() int {
	switch {
	case !c.identity.root || !c.walls.ids:
		return -1
	case c.walls.namespaces:
		return sandbox.UserID
	default:
		return c.identity.id + 1
	}
}

// attachTerminal makes the terminal the process's stdin and stdout.
func (s *streams) attachTerminal(master *os.File) error {
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	var fd int
	err = raw.Control(func(f uintptr) { fd, err = unix.FcntlInt(f, unix.F_DUPFD_CLOEXEC, 0) })
	master.Close()
	if err != nil || fd <= 0 {
		return fmt.Errorf("take the terminal: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return fmt.Errorf("set O_NONBLOCK on the terminal: %w", err)
	}
	s.stdout = os.NewFile(uintptr(fd), "terminal")
	s.stdin = s.stdout
	return nil
}

func (s *streams) resize(rows, cols uint16) error {
	raw, err := s.stdout.SyscallConn()
	if err != nil {
		return err
	}
	var ioctl error
	err = raw.Control(func(fd uintptr) {
		ioctl = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	if err == nil {
		err = ioctl
	}
	return err
}
