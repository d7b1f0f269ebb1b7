package spawn

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start starts the spawner: an init that is our child and lives in our
// namespaces. It ends when the server is closed or when we die.
func Start() (*Server, error) {
	if len(initProgram) == 0 {
		return nil, fmt.Errorf("no init for this architecture")
	}
	program, err := sealedCopy(initProgram)
	if err != nil {
		return nil, err
	}
	defer unix.Close(program)
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(theirs)
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(ours)
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer unix.Close(null)
	pid, err := syscall.ForkExec(fmt.Sprintf("/proc/self/fd/%d", program), []string{"sandbox-init"}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{uintptr(null), uintptr(null), uintptr(null), uintptr(theirs)},
		// A session of its own: Ctrl-C on our terminal is ours to handle.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		unix.Close(ours)
		return nil, fmt.Errorf("start init: %w", err)
	}
	return newServer(ours, pid), nil
}

// sealedCopy puts a program into memory that nobody can write any more, so that
// /proc/PID/exe of a process of ours is no way to change what we execute
// (CVE-2019-5736).
func sealedCopy(program []byte) (int, error) {
	const exec = 0x10 // MFD_EXEC, Linux 6.3: wanted where vm.memfd_noexec is 1
	flags := unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("sandbox-init", flags|exec)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("sandbox-init", flags)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	if _, err = unix.Write(fd, program); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
			unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if err == nil && fd <= controlFD { // where the child puts its streams and the socket
		low := fd
		fd, err = unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, controlFD+1)
		unix.Close(low)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("seal the copy of init: %w", err)
	}
	return fd, nil
}

// socketPair makes the two ends of a control socket. Only ours is non-blocking.
func socketPair() (ours, theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("socketpair: %w", err)
	}
	// One message is one packet; the kernel doubles the figure and caps it at
	// net.core.wmem_max for ordinary users, which the default just meets.
	_ = unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, maxMessage)
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return -1, -1, fmt.Errorf("set O_NONBLOCK: %w", err)
	}
	return pair[0], pair[1], nil
}
