package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/notify"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
)

// supervisor decides about the calls by which a program would reach a network, and
// those that would change files of the host: attributes_linux.go.
//
// Where the program has a network namespace, that is none of importance: it is
// told of raw sockets, which it refuses. Without a namespace a socket is the
// host's, and of no use until it is connected. The program's connect comes here
// and is never made: the supervisor puts the end of a connection to the relay in
// the socket's place. A socket for datagrams is one end of a pair from the start,
// and the relay, at the other, answers name queries alone.
type supervisor struct {
	out      *outlet.Connection // nil for a program without a network
	files    *ownFiles          // nil where calls on files do not come here
	trace    *trace             // nil where denied calls do not
	listener *notify.Listener
	user     int // whose files in /proc it opens; see [asUser]
	// sorts tells that names have real addresses. libc then connects sockets for
	// datagrams to each, to see where it would come from, and sends nothing.
	sorts bool
	// loopback is the address of the connections to the relay: one of 127.0.0.0/8
	// of the container's own, so that they take nobody else's ports.
	loopback [4]byte

	mu        sync.Mutex
	datagrams map[uint64]struct{} // the inodes of sockets that stand for UDP ones

	refused []string // lines about files; read when done is closed
	pace    pace     // of calls on files and of those that are traced

	quit chan struct{} // closed to stop it
	done chan struct{} // closed when no call is answered any more
}

// supervise serves the listener of the process's filter until the process and all
// that it has started are gone.
func (pr *process) supervise(file *os.File) error {
	c := pr.c
	listener, err := notify.New(file)
	if err != nil {
		return err
	}
	s := &supervisor{
		out: pr.out, trace: pr.trace, listener: listener, sorts: pr.policy.AllowDNS, loopback: ownLoopback(),
		datagrams: map[uint64]struct{}{}, quit: make(chan struct{}), done: make(chan struct{}),
	}
	if c.identity.root && !c.walls.namespaces {
		s.user = c.identity.id + 1
	}
	if c.supervisesFiles() {
		if s.files, err = openOwnFiles(c.base); err != nil {
			_ = listener.Close()
			return fmt.Errorf("decide about a program's changes of files: %w", err)
		}
	}
	pr.supervisor = s
	ready := make(chan error)
	go s.serve(ready)
	return <-ready
}

// stop ends it and returns lines about what it has refused of files.
func (s *supervisor) stop() []string {
	if s == nil {
		return nil
	}
	close(s.quit)
	_ = s.listener.Close() // which the end of all programs may have done
	<-s.done
	return append(s.refused, s.trace.lines()...)
}

// serve answers calls, one after the other: each takes microseconds, and a
// program that makes many is slowed down here. It tells ready when it begins to, or
// why it does not.
func (s *supervisor) serve(ready chan<- error) {
	defer close(s.done)
	begun := false
	// Another user's /proc is closed to us even as root, without CAP_SYS_PTRACE.
	err := asUser(s.user, func() (err error) {
		begun = true
		ready <- nil
		for err == nil {
			var call notify.Call
			if call, err = s.listener.Receive(); err == nil {
				err = s.decide(call)
			}
		}
		return err
	})
	if !begun {
		ready <- err
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		s.failed("no further system call could be decided: %v", err)
	}
	_ = s.listener.Close()
	if s.files != nil {
		s.files.dir.Close()
	}
}

// decide answers one call. The error is the listener's.
func (s *supervisor) decide(call notify.Call) error {
	if errno, denied := s.trace.deny(call); denied {
		defer s.pace.rest(time.Now(), s.quit)
		return s.listener.Fail(call, errno) // with 0 it returns that
	}
	value, err := s.make(call)
	switch errno, theirs := err.(unix.Errno); { //nolint:errorlint // one that is wrapped is ours
	case err == nil:
		return s.listener.Return(call, int64(value))
	case theirs:
		return s.listener.Fail(call, errno)
	case errors.Is(err, notify.ErrGone):
		return nil
	case errors.Is(err, os.ErrClosed):
		return err
	}
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("the program lets nobody look at it, by PR_SET_DUMPABLE or by an executable that it may not read: %w", err)
	}
	what := "a socket could not be had"
	if _, onFile := attributeCallOf(call.Number); onFile {
		what = "a file could not be changed"
	}
	s.failed("%s: %v", what, err)
	return s.listener.Fail(call, unix.EACCES)
}

// make makes a call in the program's place. An error number that is not wrapped is
// the call's result.
func (s *supervisor) make(call notify.Call) (value int, err error) {
	how, onFile := attributeCallOf(call.Number)
	switch {
	case onFile && s.files != nil:
		defer s.pace.rest(time.Now(), s.quit)
		return 0, s.attribute(call, how)
	case s.out == nil:
		return 0, unix.ENOSYS
	case !s.out.Relay.Pace():
		return 0, os.ErrClosed
	case call.Number == unix.SYS_SOCKET:
		return s.socket(call)
	case call.Number == unix.SYS_CONNECT:
		return 0, s.connect(call)
	}
	return 0, unix.ENOSYS
}

// failed tells of what was allowed and did not work.
func (s *supervisor) failed(format string, args ...any) {
	if s.out != nil {
		s.out.Relay.Failed(format, args...)
		return
	}
	s.refused = append(s.refused[:min(len(s.refused), mostRefused-1)], fmt.Sprintf(format, args...))
}

// socket answers a call for a socket of raw packets or for datagrams.
func (s *supervisor) socket(call notify.Call) (int, error) {
	const typeMask = 0xf
	if family := int(int32(call.Args[0])); family == unix.AF_PACKET || call.Args[1]&typeMask == unix.SOCK_RAW {
		s.out.Relay.Refuse("raw socket refused: %s", onlyThese)
		return 0, unix.EPERM
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("make a pair: %w", err)
	}
	defer unix.Close(pair[1])
	ours, err := fileConn(pair[0])
	if err != nil {
		return 0, err
	}
	inode, err := inodeOf(pair[1])
	if err == nil {
		err = unix.SetNonblock(pair[1], call.Args[1]&unix.SOCK_NONBLOCK != 0)
	}
	if err != nil {
		_ = ours.Close()
		return 0, fmt.Errorf("make a pair: %w", err)
	}
	s.note(inode, true)
	s.out.Watch(ours)
	s.out.Relay.AnswerMessages(ours, func() { s.note(inode, false) })
	return s.listener.Install(call, pair[1], -1, call.Args[1]&unix.SOCK_CLOEXEC != 0)
}

func (s *supervisor) note(inode uint64, alive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alive {
		s.datagrams[inode] = struct{}{}
	} else {
		delete(s.datagrams, inode)
	}
}

func (s *supervisor) isDatagram(inode uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.datagrams[inode]
	return is
}

// connect answers a call to connect a socket: to the relay, which decides, or not
// at all.
func (s *supervisor) connect(call notify.Call) error {
	fd := int(int32(call.Args[0]))
	d, err := s.listener.Descriptor(call, fd)
	if err != nil {
		return err
	}
	to, err := s.destination(call)
	if err == nil && d.Inode == 0 {
		err = unix.ENOTSOCK
	}
	if err != nil {
		return err
	}
	six := to.Addr().Is6() && !to.Addr().Is4In6()
	switch {
	case s.isDatagram(d.Inode):
		if to.Port() == dnsPort {
			return nil
		}
		if to.Port() != 0 && !s.sorts {
			s.out.Relay.Refuse("udp to %s refused: %s", plain(to), onlyThese)
		}
		return unix.ENETUNREACH
	case six && !(to.Port() == dnsPort && to.Addr().IsLoopback()): // where Go looks for a name server
		s.out.Relay.Refuse("tcp to %s refused: %s", to, onlyThese)
		return unix.ENETUNREACH
	}
	theirs, ours, err := s.pair(to.Addr().Is6())
	if err != nil {
		return fmt.Errorf("connect to the relay: %w", err)
	}
	defer unix.Close(theirs)
	err = unix.SetNonblock(theirs, d.Flags&unix.O_NONBLOCK != 0)
	if err == nil {
		_, err = s.listener.Install(call, theirs, fd, d.Flags&unix.O_CLOEXEC != 0)
	}
	if err != nil {
		_ = ours.Close()
		return err
	}
	s.out.Watch(ours)
	s.out.Relay.Carry(ours, plain(to))
	return nil
}

const (
	dnsPort   = 53
	onlyThese = "only TCP and name queries leave the sandbox"
)

func plain(to netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
}

// destination is what a call to connect names, of the families that programs
// have.
func (s *supervisor) destination(call notify.Call) (netip.AddrPort, error) {
	var b [unix.SizeofSockaddrInet6]byte
	size := int(int32(call.Args[2]))
	if size < 2 || size > unix.SizeofSockaddrAny+16 {
		return netip.AddrPort{}, unix.EINVAL
	}
	size = min(size, len(b))
	if err := s.listener.Read(call, call.Args[1], b[:size]); err != nil {
		return netip.AddrPort{}, err
	}
	return parseAddress(b[:size])
}

// parseAddress reads struct sockaddr_in or sockaddr_in6. Like the kernel it takes
// the latter without its last field.
func parseAddress(b []byte) (netip.AddrPort, error) {
	const scope = 24
	if len(b) < 2 {
		return netip.AddrPort{}, unix.EINVAL
	}
	family := binary.NativeEndian.Uint16(b)
	switch {
	case family == unix.AF_INET && len(b) >= unix.SizeofSockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])), nil
	case family == unix.AF_INET6 && len(b) >= scope:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), binary.BigEndian.Uint16(b[2:])), nil
	case family == unix.AF_INET || family == unix.AF_INET6:
		return netip.AddrPort{}, unix.EINVAL
	}
	return netip.AddrPort{}, unix.EAFNOSUPPORT
}

// pairTimeout is for two ends of a connection on our own loopback to find each
// other.
const pairTimeout = time.Second

// pair makes a TCP connection to ourselves, with one end for a program. Programs
// set options of TCP, and some do not go on when they fail: socketpair(2) will not
// do.
func (s *supervisor) pair(six bool) (theirs int, ours net.Conn, err error) {
	listener, err := s.bound(unix.AF_INET)
	if err != nil {
		return -1, nil, err
	}
	defer unix.Close(listener)
	if err := unix.Listen(listener, 1); err != nil {
		return -1, nil, err
	}
	at, err := unix.Getsockname(listener)
	if err != nil {
		return -1, nil, err
	}
	family := unix.AF_INET
	if six {
		family = unix.AF_INET6
	}
	if theirs, err = s.bound(family); err != nil {
		return -1, nil, err
	}
	if err = connectSoon(theirs, s.address(family, addressOf(at).Port())); err == nil {
		ours, err = acceptFrom(listener, theirs)
	}
	if err != nil {
		unix.Close(theirs)
		return -1, nil, err
	}
	return theirs, ours, nil
}

// bound makes a socket on the container's loopback address.
func (s *supervisor) bound(family int) (fd int, err error) {
	if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	for _, option := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, pairBuffer)
		}
	}
	if err == nil {
		err = unix.Bind(fd, s.address(family, 0))
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// connectSoon connects a program's socket, which afterwards has no timeout.
func connectSoon(fd int, to unix.Sockaddr) error {
	timeout := unix.NsecToTimeval(pairTimeout.Nanoseconds())
	err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout)
	if err == nil {
		// With a timeout a signal ends it, though the connection goes on being made.
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Connect(fd, to)
		}
		if err == unix.EISCONN {
			err = nil
		}
	}
	if err == nil {
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, new(unix.Timeval))
	}
	return err
}

// pairBuffer bounds what the kernel keeps of a connection, which no container is
// charged for.
const pairBuffer = 128 << 10

// address is a port of the container's loopback, to a socket of a family.
func (s *supervisor) address(family int, port uint16) unix.Sockaddr {
	if family == unix.AF_INET6 {
		return &unix.SockaddrInet6{Port: int(port), Addr: netip.AddrFrom4(s.loopback).As16()}
	}
	return &unix.SockaddrInet4{Port: int(port), Addr: s.loopback}
}

// acceptFrom takes the connection that one of our own sockets has made, and no
// stranger's.
func acceptFrom(listener, from int) (net.Conn, error) {
	timeout := unix.NsecToTimeval(pairTimeout.Nanoseconds())
	if err := unix.SetsockoptTimeval(listener, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return nil, err
	}
	want, err := unix.Getsockname(from)
	if err != nil {
		return nil, err
	}
	for {
		fd, peer, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if addressOf(peer) == addressOf(want) {
			return fileConn(fd)
		}
		unix.Close(fd)
	}
}

func addressOf(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// fileConn takes over a socket.
func fileConn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "relay")
	defer f.Close()
	return net.FileConn(f)
}

func inodeOf(fd int) (uint64, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return st.Ino, err
}

// supervisable tells why programs without a network namespace cannot be
// supervised, or nil.
func supervisable() error {
	if _, err := notify.FilterFlags(); err != nil {
		return err
	}
	const onlyChildren = "1"
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && strings.TrimSpace(string(scope)) > onlyChildren {
		return errors.New("kernel.yama.ptrace_scope closes the memory of other processes to us")
	}
	return nil
}

// ownLoopback is one of the sixteen million addresses of this host's loopback
// that nobody asks for by name.
func ownLoopback() [4]byte {
	n := rand.Uint32()
	return [4]byte{127, byte(64 + n%128), byte(n >> 8), byte(1 + n>>16%250)}
}
