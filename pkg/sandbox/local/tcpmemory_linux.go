package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// tcpMemory is what TCP sockets of a container hold where no control group is
// charged with it. It is for one process at a time.
type tcpMemory struct {
	socket *os.File   // netns.CountSocket
	stats  []*os.File // of sockets, which tell their number
	next   time.Time  // when to look again
	last   int64
	failed int // looks in a row, with err
	err    error
}

const (
	// tcpMost is more than a socket holds with the settings of [netns.Sysctls]; four
	// thousand full ones were seen to have 137 KiB each.
	tcpMost = 256 << 10
	// Counting walks a table of the whole host: a millisecond and more. It takes a
	// twentieth of a core at most.
	tcpEvery = 20 * time.Millisecond
	tcpShare = 20
)

// tcpStats are the files that tell how many sockets there are. A kernel without
// IPv6 lacks the second.
var tcpStats = []string{"/proc/self/net/sockstat", "/proc/self/net/sockstat6"}

// openTCPMemory appends the calls that open what [newTCPMemory] needs, in the
// namespace of init.
func (c *container) openTCPMemory(p *spawn.Program) (fds []spawn.Arg) {
	if c.spec.Network.Mode == sandbox.NetworkNone || !c.rt.host.tameLoopback {
		return nil
	}
	fds = append(fds, makeSocket(p, netns.CountSocket()))
	for _, name := range tcpStats {
		if _, err := os.Stat(name); err == nil {
			fds = append(fds, p.Call("open "+name, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(name), spawn.Value(unix.O_RDONLY|unix.O_CLOEXEC)).Save())
		}
	}
	return fds
}

// newTCPMemory takes what init has opened.
func newTCPMemory(files []*os.File) *tcpMemory {
	if len(files) == 0 {
		return nil
	}
	return &tcpMemory{socket: files[0], stats: files[1:]}
}

func (m *tcpMemory) close() {
	if m == nil {
		return
	}
	m.socket.Close()
	closeFiles(m.stats)
}

// tcpWarning is what is to be said where the kernel does not tell; else it is empty.
func (r *Runtime) tcpWarning(m *tcpMemory) string {
	if m == nil {
		return ""
	}
	r.uncountedSet.Do(func() {
		if _, r.uncounted = netns.TCPBytes(m.socket); errors.Is(r.uncounted, unix.ENOENT) {
			r.uncounted = errors.New("this kernel has no CONFIG_INET_TCP_DIAG")
		}
	})
	if r.uncounted == nil {
		return ""
	}
	return fmt.Sprintf("the memory limit does not count the buffers of TCP sockets: %v", r.uncounted)
}

// bytes is zero while there are so few sockets that they fit in a room at their
// largest, and what was counted last where it is too early to count again, or fails. It is
// an error where it has failed several times in a row.
func (m *tcpMemory) bytes(room int64) (int64, error) {
	if m == nil || fault.Off("limit", "tcp") {
		return 0, nil
	}
	if began := time.Now(); !began.Before(m.next) {
		m.look(room)
		m.next = began.Add(max(tcpEvery, tcpShare*time.Since(began)))
	}
	if m.failed >= maxBlind {
		return m.last, m.err
	}
	return m.last, nil
}

// look counts. The kernel has no memory to tell with just when sockets have taken it.
func (m *tcpMemory) look(room int64) {
	var counted int64
	many, err := m.sockets()
	if err == nil && many*tcpMost > room {
		counted, err = netns.TCPBytes(m.socket)
	}
	if m.err = err; err != nil {
		m.failed++
		return
	}
	m.last, m.failed = counted, 0
}

// sockets is how many of them there are, those without a descriptor included.
func (m *tcpMemory) sockets() (total int64, err error) {
	var b [512]byte
	for _, f := range m.stats {
		n, err := unix.Pread(int(f.Fd()), b[:], 0)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		for line := range bytes.Lines(b[:n]) { // TCP: inuse 4 orphan 0 …
			if fields := bytes.Fields(line); len(fields) > 2 && bytes.HasPrefix(fields[0], []byte("TCP")) {
				inuse, _ := strconv.ParseInt(string(fields[2]), 10, 64)
				total += inuse
			}
		}
	}
	return total, nil
}
