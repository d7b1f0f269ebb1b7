package local

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// supervised makes a container without a network namespace, from which some ports
// of this host's loopback may be reached.
func supervised(t testing.TB, ports ...string) (*Runtime, sandbox.Container) {
	t.Helper()
	if err := supervisable(); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no python3 to connect with")
	}
	rt := opened(t)
	if rt.host.landlockABI < minLandlock {
		t.Skip("this kernel has no Landlock")
	}
	return rt, newSupervised(t, rt, ports...)
}

func newSupervised(t testing.TB, rt *Runtime, ports ...string) sandbox.Container {
	t.Helper()
	policy := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist}
	for _, p := range ports {
		policy.Allow = append(policy.Allow, "localhost:"+p)
	}
	c, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelRestricted, Network: policy, Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tools is what the programs here have at hand: connect(2) as it is, which
// returns the name of its error.
const tools = `
import ctypes, errno, os, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
ports = [int(p) for p in sys.argv[1:]]
def outcome(r): return errno.errorcode[ctypes.get_errno()] if r < 0 else "ok"
def address(port, host="127.0.0.1"):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
def connect(fd, where, size=None):
    return outcome(libc.connect(fd, where, len(where) if size is None else size))
def attempt(f, *args):
    try: return f(*args)
    except OSError as e: return errno.errorcode[e.errno]
def hello(s):
    s.sendall(b"you\n")
    with s: return s.makefile().read().strip()
`

// python runs a program with the ports as its arguments.
func python(t testing.TB, c sandbox.Container, script string, ports ...string) (string, sandbox.Exit) {
	t.Helper()
	running, out := startPython(t, c, script, ports...)
	exit, err := running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

func startPython(t testing.TB, c sandbox.Container, script string, ports ...string) (sandbox.Running, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: append([]string{"/usr/bin/python3", "-S", "-c", tools + script}, ports...), Env: []string{"PATH=/usr/bin:/bin"}, Stdout: out, Stderr: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	return running, out
}

// counter is a server on this host's loopback that answers each line with hello.
type counter struct {
	port  string
	count atomic.Int64 // connections
}

func newCounter(t testing.TB) *counter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &counter{}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.count.Add(1)
			go func() {
				defer conn.Close()
				line := make([]byte, 100)
				if n, err := conn.Read(line); err == nil {
					fmt.Fprintf(conn, "hello %s", line[:n])
				}
			}()
		}
	}()
	return s
}

// unexpected holds lines against the beginnings of those that are wanted.
func unexpected(t *testing.T, what string, lines []string, want ...string) {
	t.Helper()
	if !slices.EqualFunc(lines, want, strings.HasPrefix) {
		t.Errorf("%s: %q, want %q", what, lines, want)
	}
}

// Calls that come to nothing fail as the kernel's own do, and refusals are told.
func TestSuperviseErrors(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	got, exit := python(t, c, `
tcp, udp, null = socket.socket(), socket.socket(type=socket.SOCK_DGRAM), os.open("/dev/null", os.O_RDWR)
fd, good = tcp.fileno(), address(ports[0])
print(connect(null, good), connect(999, good), connect(-1, good))
print(connect(fd, struct.pack("=H", 0) + good[2:]), connect(fd, struct.pack("=H", 1) + b"/run/x"), connect(fd, good, 15))
print(connect(fd, good, -1), connect(fd, bytes(4096)), connect(fd, good, 1), connect(fd, good, 0))
print(connect(fd, ctypes.c_void_p(8), 16), connect(fd, ctypes.c_void_p(-1), 16))
print(attempt(tcp.bind, ("127.0.0.1", 0)), attempt(tcp.listen), attempt(udp.bind, ("127.0.0.1", 0)))
print(attempt(socket.socket(socket.AF_INET6).connect, ("2606:4700::1", 80)), attempt(udp.connect, ("1.1.1.1", 80)), attempt(udp.connect, ("1.1.1.1", 0)), attempt(udp.connect, ("1.1.1.1", 53)))
for family, kind in (2, 3), (10, 3), (17, 2), (17, 3), (1, 1), (16, 3): print(attempt(socket.socket, family, kind), end=" ")
print()
print(hello(socket.create_connection(("127.0.0.1", ports[0]))))
`, s.port)
	want := `ENOTSOCK EBADF EBADF
EAFNOSUPPORT EAFNOSUPPORT EINVAL
EINVAL EINVAL EINVAL EINVAL
EFAULT EFAULT
EACCES EACCES EACCES
ENETUNREACH ENETUNREACH ENETUNREACH None
EPERM EPERM EPERM EPERM EAFNOSUPPORT EAFNOSUPPORT 
hello you
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	unexpected(t, "violations", exit.Violations, "tcp to [2606:4700::1]:80 refused", "udp to 1.1.1.1:80 refused", "raw socket refused")
	unexpected(t, "failures", exit.Network.Failures)
	if i := c.Isolation(); i.Mechanisms["network"] != api.Degraded || !slices.ContainsFunc(i.Warnings, func(w string) bool { return strings.HasPrefix(w, "network: ") }) {
		t.Errorf("%+v", i)
	}
}

// A program that closes its memory to us gets no connection, and somebody hears
// why.
func TestSuperviseClosedMemory(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	const undumpable = "libc.prctl(4, 0, 0, 0, 0)\n"
	got, exit := python(t, c, undumpable+"s = socket.socket()\nprint(connect(s.fileno(), address(ports[0])))", s.port)
	if got != "EACCES\n" || s.count.Load() > 0 {
		t.Errorf("%q, %d connections", got, s.count.Load())
	}
	unexpected(t, "failures", exit.Network.Failures, "a socket could not be had: the program lets nobody look at it")
}

// What a program has no descriptor for is its own fault.
func TestSuperviseNoDescriptors(t *testing.T) {
	_, c := supervised(t)
	got, exit := python(t, c, `
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))
print(attempt(lambda: [os.open("/dev/null", 0) for i in range(9)]), attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM))`)
	if got != "EMFILE EMFILE\n" {
		t.Error(got)
	}
	unexpected(t, "failures", exit.Network.Failures)
}

// The connection that stands for a program's is used like it, in whatever way
// the program waits for it.
func TestSuperviseSockets(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	got, _ := python(t, c, `
import asyncio, fcntl, select
for nonblocking in 0, socket.SOCK_NONBLOCK:
    for cloexec in 0, socket.SOCK_CLOEXEC:
        fd = libc.socket(2, 1 | nonblocking | cloexec, 0)
        print(connect(fd, address(ports[0])), fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK == nonblocking, fcntl.fcntl(fd, fcntl.F_GETFD) == bool(cloexec), end=" ")
        s = socket.socket(fileno=fd)
        select.select([], [fd], [])
        print(s.getsockopt(1, 4), s.getpeername()[0].startswith("127."), s.getsockopt(1, 21, 16) == bytes(16))
        s.setblocking(True)
        print(hello(s))
s = socket.socket()
before = os.dup(s.fileno())
s.connect(("127.0.0.1", ports[0]))
after = socket.socket(fileno=os.dup(s.fileno()))
print(attempt(os.write, before, b"x"), hello(after))
six = socket.socket(socket.AF_INET6)
six.connect(("::ffff:127.0.0.1", ports[0]))
print(six.getpeername()[0].startswith("::ffff:127."), hello(six))
s = socket.socket()
s.settimeout(10)
print(s.connect_ex(("127.0.0.1", ports[0])), hello(s))
async def main():
    r, w = await asyncio.open_connection("host.docker.internal", ports[0])
    w.write(b"you\n")
    print((await r.read()).decode().strip())
asyncio.run(main())
left, right = socket.socketpair()
print(connect(left.fileno(), address(ports[0])), hello(left))
`, s.port)
	var want strings.Builder
	for range 4 {
		want.WriteString("ok True True 0 True True\nhello you\n")
	}
	want.WriteString("EPIPE hello you\nTrue hello you\n0 hello you\nhello you\nok hello you\n")
	if got != want.String() {
		t.Errorf("%s, want\n%s", got, want.String())
	}
}

// Nothing is left of many programs: no descriptor, no goroutine, and none of
// the threads that were somebody else.
func TestSuperviseLeavesNothing(t *testing.T) {
	s := newCounter(t)
	rt, c := supervised(t, s.port)
	use := func() {
		if got, _ := python(t, c, `u = socket.socket(type=socket.SOCK_DGRAM); print(hello(socket.create_connection(("127.0.0.1", ports[0]))))`, s.port); got != "hello you\n" {
			t.Error(got)
		}
		if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/no/such/program"}}); err == nil {
			t.Error("a program that is not there was started")
		}
	}
	use()
	threads, nothingMore := countThreads(), sandboxtest.NothingMore(t)
	for range 25 {
		use()
	}
	for range 5 {
		c := newSupervised(t, rt, s.port)
		if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}}); err != nil {
			t.Error(err)
		}
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	}
	const some = 8 // threads that the runtime has made for itself
	nothingMore()
	for i := 0; countThreads() > threads+some; i++ {
		if i > 500 {
			t.Fatalf("%d threads, at most %d before", countThreads(), threads)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func countThreads() int {
	entries, _ := os.ReadDir("/proc/self/task")
	return len(entries)
}

func TestParseAddress(t *testing.T) {
	four := []byte{2, 0, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}
	six := append([]byte{10, 0, 1, 187, 0, 0, 0, 0}, append(netip.MustParseAddr("2001:db8::1").AsSlice(), 0, 0, 0, 0)...)
	for _, c := range []struct {
		b    []byte
		want string
		err  error
	}{
		{four, "1.2.3.4:80", nil}, {append(slices.Clone(four), 9, 9), "1.2.3.4:80", nil}, {six, "[2001:db8::1]:443", nil}, {six[:24], "[2001:db8::1]:443", nil},
		{four[:15], "", unix.EINVAL}, {six[:23], "", unix.EINVAL}, {nil, "", unix.EINVAL}, {four[:1], "", unix.EINVAL},
		{make([]byte, 16), "", unix.EAFNOSUPPORT}, {[]byte{1, 0}, "", unix.EAFNOSUPPORT}, {[]byte{2, 1, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}, "", unix.EAFNOSUPPORT},
	} {
		got, err := parseAddress(c.b)
		if err != c.err || err == nil && got.String() != c.want {
			t.Errorf("%v: %v, %v", c.b, got, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add([]byte{2, 0, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{10, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseAddress(b)
		_, ours := err.(unix.Errno)
		if err != nil && (!ours || got.IsValid()) || err == nil && (!got.IsValid() || got.Addr().Zone() != "" || len(b) < unix.SizeofSockaddrInet4) {
			t.Errorf("%v: %v, %v", b, got, err)
		}
	})
}

// The loopback of a container is none that anybody asks for by name.
func TestOwnLoopback(t *testing.T) {
	seen := map[[4]byte]bool{}
	for range 1000 {
		a := ownLoopback()
		if a[0] != 127 || a[1] < 64 || a[1] > 191 || a[3] < 1 || a[3] > 250 {
			t.Fatal(a)
		}
		seen[a] = true
	}
	if len(seen) < 900 {
		t.Errorf("%d different ones of 1000", len(seen))
	}
}

// What a program says about its resolver stays.
func TestResolving(t *testing.T) {
	outside := &container{network: &outlet.Outlet{}}
	for _, c := range []struct {
		c         *container
		env, want []string
	}{
		{outside, nil, []string{"RES_OPTIONS=use-vc"}},
		{outside, []string{"A=1", "RES_OPTIONS=timeout:1", "B=2"}, []string{"RES_OPTIONS=use-vc timeout:1", "A=1", "B=2"}},
		{&container{}, []string{"A=1"}, []string{"A=1"}},
		{&container{network: &outlet.Outlet{}, walls: wallsFull}, []string{"A=1"}, []string{"A=1"}},
	} {
		if got := c.c.resolving(sandbox.Process{Env: c.env}).Env; !slices.Equal(got, c.want) {
			t.Errorf("%q became %q", c.env, got)
		}
	}
}
