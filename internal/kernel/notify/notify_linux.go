package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FilterFlags are the flags with which a filter has to be installed for its
// calls to come here (seccomp(2)). Where the kernel can (Linux 5.19), a call that
// was received is only interrupted by what kills the program: a signal would
// else have it made twice.
//
// A process that is under such a filter itself, as in a container whose manager
// intercepts calls, can install no second one.
func FilterFlags() (uint, error) { return filterFlags() }

var filterFlags = sync.OnceValues(func() (uint, error) {
	err := error(unix.EINVAL)
	for _, flags := range []uint{
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
	} {
		if err = tryFilter(flags); err == nil {
			return flags, nil
		}
	}
	if errors.Is(err, unix.EBUSY) {
		return 0, errors.New("somebody decides about our own system calls already, and the kernel allows for one who does")
	}
	return 0, fmt.Errorf("this kernel does not let a process decide about another's system calls (Linux 5.9 does): %w", err)
})

// tryFilter installs a filter that lets everything pass, in a thread that ends with it. The
// main thread would not end, and what it has is the process's to whoever looks.
func tryFilter(flags uint) error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			tried <- tryFilter(flags)
			return
		}
		tried <- installFilter(flags)
	}()
	return <-tried
}

func installFilter(flags uint) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&unix.SockFprog{Len: 1, Filter: &pass})))
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// Call is a system call that waits for its answer.
type Call struct {
	// Thread is the caller's thread id, in our pid namespace; 0 when it has none
	// there.
	Thread int
	// Number is that of the call, on the machine's own interface.
	Number int
	Args   [6]uint64

	id uint64
}

// Listener receives the calls of one filter. Its methods are for one goroutine;
// Close may be called by another.
type Listener struct {
	file *os.File
	raw  syscall.RawConn
}

// New takes over the descriptor that installing a filter has returned.
func New(file *os.File) (*Listener, error) {
	if err := unix.SetNonblock(int(file.Fd()), true); err != nil {
		file.Close()
		return nil, fmt.Errorf("listen for system calls: %w", err)
	}
	// The runtime polls what does not block when it is given to NewFile.
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	file.Close()
	if err != nil {
		return nil, fmt.Errorf("listen for system calls: %w", err)
	}
	l := &Listener{file: os.NewFile(uintptr(fd), "seccomp listener")}
	if l.raw, err = l.file.SyscallConn(); err != nil {
		l.file.Close()
		return nil, fmt.Errorf("listen for system calls: %w", err)
	}
	return l, nil
}

// Close makes calls that wait fail with ENOSYS, and those to come.
func (l *Listener) Close() error { return l.file.Close() }

// notification is struct seccomp_notif (linux/seccomp.h).
type notification struct {
	id                 uint64
	pid, flags         uint32
	number             int32
	arch               uint32
	instructionPointer uint64
	args               [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// addition is struct seccomp_notif_addfd.
type addition struct {
	id               uint64
	flags            uint32
	source, at, with uint32
}

// Receive waits for the next call. It returns [io.EOF] when no program is left
// that could make one, and [os.ErrClosed] after Close.
func (l *Listener) Receive() (Call, error) {
	var n notification
	var got error
	err := l.raw.Read(func(fd uintptr) bool {
		for {
			ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if _, err := unix.Poll(ready, 0); err == unix.EINTR {
				continue
			}
			switch {
			case ready[0].Revents&unix.POLLIN != 0:
			case ready[0].Revents != 0:
				got = io.EOF
				return true
			default:
				return false
			}
			n = notification{} // the kernel wants zeros
			switch errno := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno {
			case unix.EINTR, unix.ENOENT: // the caller was killed meanwhile
			case 0:
				got = nil
				return true
			default:
				got = fmt.Errorf("receive a system call: %w", errno)
				return true
			}
		}
	})
	if err != nil {
		return Call{}, os.ErrClosed // which the runtime's poller says in words of its own
	}
	return Call{Thread: int(n.pid), Number: int(n.number), Args: n.args, id: n.id}, got
}

func ioctl(fd uintptr, request uint, argument unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, uintptr(request), uintptr(argument))
	return errno
}

func (l *Listener) control(request uint, argument unsafe.Pointer) (result int, err error) {
	var errno syscall.Errno
	controlErr := l.raw.Control(func(fd uintptr) {
		var r uintptr
		r, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uintptr(request), uintptr(argument))
		result = int(r)
	})
	runtime.KeepAlive(argument)
	if controlErr != nil {
		return 0, controlErr
	}
	if errno != 0 {
		return 0, errno
	}
	return result, nil
}

// Return makes a call return a value. A caller that is gone is no error.
func (l *Listener) Return(c Call, value int64) error {
	return l.answer(response{id: c.id, value: value})
}

// Fail makes a call fail.
func (l *Listener) Fail(c Call, errno unix.Errno) error {
	return l.answer(response{id: c.id, errno: -int32(errno)})
}

func (l *Listener) answer(r response) error {
	_, err := l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("answer a system call: %w", err)
	}
	return nil
}

// waits tells whether the call still waits. Only then is its thread id the
// caller's and not another's who has it now.
func (l *Listener) waits(c Call) bool {
	_, err := l.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&c.id))
	return err == nil
}

// Install copies a descriptor of ours into the caller's process: in place of its
// descriptor at, or where there is room when at is negative. It returns the
// number that it has there, and EMFILE where the caller may have no more.
func (l *Listener) Install(c Call, fd, at int, closeOnExec bool) (int, error) {
	a := addition{id: c.id, source: uint32(fd)}
	if at >= 0 {
		a.flags, a.at = unix.SECCOMP_ADDFD_FLAG_SETFD, uint32(at)
	}
	if closeOnExec {
		a.with = unix.O_CLOEXEC
	}
	n, err := l.control(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH): // before we have asked, or since
		return 0, ErrGone
	case errors.Is(err, unix.EMFILE): // in its table: nothing is opened in ours
		return 0, unix.EMFILE
	case err != nil:
		return 0, fmt.Errorf("give a program a descriptor: %w", err)
	}
	return n, nil
}

// ErrGone says that the caller does not wait any more.
var ErrGone = errors.New("the caller of the system call is gone")

// Read reads the caller's memory, which another thread of it may be changing:
// whoever decides by what was read must act on that copy.
func (l *Listener) Read(c Call, address uint64, p []byte) error {
	if address > 1<<63-1 {
		return unix.EFAULT
	}
	mem, err := l.open(c, "mem")
	if err != nil {
		return err
	}
	defer mem.Close()
	if _, err := mem.ReadAt(p, int64(address)); err != nil {
		return unix.EFAULT // nothing is mapped there
	}
	return nil
}

func procPath(c Call, name string) string { return "/proc/" + strconv.Itoa(c.Thread) + "/" + name }

// open opens a file of the caller's in /proc.
func (l *Listener) open(c Call, name string) (*os.File, error) {
	f, err := os.Open(procPath(c, name))
	if err == nil && l.waits(c) {
		return f, nil
	}
	f.Close()
	if err == nil || !l.waits(c) {
		return nil, ErrGone
	}
	return nil, err
}

// ReadString reads a string of the caller's memory up to the zero at its end,
// which is ENAMETOOLONG when none comes within size bytes.
func (l *Listener) ReadString(c Call, address uint64, size int) (string, error) {
	var text []byte
	for page := os.Getpagesize(); len(text) < size; { // what follows a page may not be mapped
		b := make([]byte, min(page-int(address%uint64(page)), size-len(text)))
		if err := l.Read(c, address, b); err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(text, b[:i]...)), nil
		}
		text = append(text, b...)
		address += uint64(len(b))
	}
	return "", unix.ENAMETOOLONG
}

// Open opens what a descriptor of the caller's is, or with AT_FDCWD its working
// directory: to find files from there, and not to read or write it (O_PATH). It is
// EBADF when the caller has none of that number.
func (l *Listener) Open(c Call, fd int) (*os.File, error) {
	name := "cwd"
	if fd != unix.AT_FDCWD {
		name = "fd/" + strconv.Itoa(fd)
	}
	f, err := os.OpenFile(procPath(c, name), unix.O_PATH, 0)
	if err == nil && l.waits(c) {
		return f, nil
	}
	f.Close()
	switch {
	case err == nil || !l.waits(c):
		return nil, ErrGone
	case errors.Is(err, os.ErrNotExist):
		return nil, unix.EBADF
	}
	return nil, err
}

// Descriptor is one of a caller's.
type Descriptor struct {
	// Flags are those of open(2): the access mode, O_NONBLOCK, O_CLOEXEC.
	Flags int
	// Inode tells sockets apart. It is 0 for what is no socket.
	Inode uint64
}

// Descriptor looks at a descriptor of the caller's. It is EBADF when the caller
// has none of that number. Another thread may put another file there at any
// time.
func (l *Listener) Descriptor(c Call, fd int) (d Descriptor, err error) {
	number := strconv.Itoa(fd)
	f, err := l.open(c, "fdinfo/"+number)
	if errors.Is(err, os.ErrNotExist) {
		return Descriptor{}, unix.EBADF
	}
	if err != nil {
		return Descriptor{}, err
	}
	defer f.Close()
	text := make([]byte, 1<<10) // the flags come first
	n, err := f.Read(text)
	link, linkErr := os.Readlink(procPath(c, "fd/"+number))
	switch {
	case !l.waits(c):
		return Descriptor{}, ErrGone
	case err != nil || errors.Is(linkErr, os.ErrNotExist):
		return Descriptor{}, unix.EBADF
	case linkErr != nil:
		return Descriptor{}, linkErr
	}
	d.Inode = parseSocket(link)
	d.Flags, err = parseDescriptor(string(text[:n]))
	return d, err
}

// parseDescriptor finds the flags, which are octal, in what /proc/PID/fdinfo says.
func parseDescriptor(text string) (flags int, err error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "flags:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 8, 31)
			return int(n), err
		}
	}
	return 0, errors.New("a descriptor's flags are not told")
}

// parseSocket is the inode of a socket by what /proc/PID/fd says, or 0.
func parseSocket(link string) uint64 {
	inner, ok := strings.CutPrefix(link, "socket:[")
	number, end := strings.CutSuffix(inner, "]")
	if !ok || !end {
		return 0
	}
	inode, err := strconv.ParseUint(number, 10, 64)
	if err != nil { // of one that is too large there is the largest that is not
		return 0
	}
	return inode
}
