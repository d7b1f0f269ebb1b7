package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Threads and children connect at once.
func TestSuperviseCrowd(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	got, exit := python(t, c, `
start, room, said = threading.Barrier(200), threading.Semaphore(50), []
def one():
    start.wait()
    with room: said.append(hello(socket.create_connection(("127.0.0.1", ports[0]))))
threads = [threading.Thread(target=one) for i in range(200)]
for t in threads: t.start()
for t in threads: t.join()
children = []
for i in range(20):
    children.append(os.fork())
    if children[-1] == 0:
        one = hello(socket.create_connection(("127.0.0.1", ports[0])))
        os._exit(one != "hello you")
print(said.count("hello you"), [os.waitpid(pid, 0)[1] for pid in children].count(0))
`, s.port)
	if got != "200 20\n" || exit.Network.Connections != 220 || s.count.Load() != 220 {
		t.Errorf("%q, %+v, the server counts %d", got, exit.Network, s.count.Load())
	}
	unexpected(t, "violations", exit.Violations)
	unexpected(t, "failures", exit.Network.Failures)
}

// Where a program connects to is what it said once: a thread that changes the
// address meanwhile changes nothing.
func TestSuperviseTakesOneAddress(t *testing.T) {
	open, closed := newCounter(t), newCounter(t)
	_, c := supervised(t, open.port)
	got, exit := python(t, c, `
sys.setswitchinterval(1e-4) # threads alternate, and 600 calls take no 10 s
where, stop = ctypes.create_string_buffer(address(ports[0]), 16), False
def flip():
    while not stop:
        for p in ports: where[2:4] = struct.pack("!H", p)
flipping = threading.Thread(target=flip)
flipping.start()
for i in range(600):
    with socket.socket() as s: assert connect(s.fileno(), where, 16) == "ok"
stop = True
flipping.join()
print("done")
`, open.port, closed.port)
	if got != "done\n" || closed.count.Load() > 0 {
		t.Errorf("%q, and %d connections to what is not allowed", got, closed.count.Load())
	}
	var refused int64
	for _, line := range exit.Violations { // the closed port, and what was half of each
		times := int64(1)
		if _, count, ok := strings.Cut(line, "("); ok {
			if _, err := fmt.Sscanf(count, "%d times)", &times); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
		refused += times
	}
	if n := exit.Network.Connections; n == 0 || refused == 0 || n+refused != 600 || n != open.count.Load() {
		t.Errorf("%d connections, of which the server counts %d, and %d refused: %q", n, open.count.Load(), refused, exit.Violations)
	}
}

// There is no other way to reach anything: by sending, by the options of TCP, or
// with a socket that was connected before.
func TestSuperviseOtherWays(t *testing.T) {
	open, closed := newCounter(t), newCounter(t)
	udp, err := net.ListenPacket("udp4", "127.0.0.1:"+closed.port)
	if err != nil {
		t.Skip(err)
	}
	defer udp.Close()
	_, c := supervised(t, open.port)
	got, exit := python(t, c, `
open, closed, fastopen = ("127.0.0.1", ports[0]), ("127.0.0.1", ports[1]), 0x20000000
class Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p), ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int), ("n", ctypes.c_int)]
text, where = ctypes.create_string_buffer(b"you\n", 4), ctypes.create_string_buffer(address(ports[1]), 16)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(text), 4)
def sendmmsg(s, flags):
    return outcome(libc.sendmmsg(s.fileno(), ctypes.byref(Header(ctypes.addressof(where), 16, ctypes.addressof(vector), 1, flags=fastopen)), 1, flags))
def fresh(): return socket.socket()
for flags in 0, fastopen:
    print(attempt(fresh().sendto, b"x", flags, closed), attempt(fresh().sendmsg, [b"x"], [], flags, closed), sendmmsg(fresh(), flags))
s = fresh()
s.setsockopt(6, 30, 1) # TCP_FASTOPEN_CONNECT
print(attempt(s.connect, closed), attempt(lambda: (s.send(b"x"), s.recv(1))))
s = fresh()
s.connect(open)
print(connect(s.fileno(), struct.pack("=H", 0) + bytes(14)), attempt(s.sendto, b"you\n", closed), s.makefile().read().strip())
with socket.socket(type=socket.SOCK_DGRAM) as u:
    print(attempt(u.sendto, b"x", closed), attempt(u.sendmsg, [b"x"], [], 0, closed), sendmmsg(u, 0), attempt(u.sendto, b"x", fastopen, closed), attempt(u.connect, closed))
`, open.port, closed.port)
	want := `EPIPE EPIPE EPIPE
ENOTSUP ENOTSUP ENOTSUP
None ECONNRESET
EAFNOSUPPORT 4 hello you
1 1 ok ENOTSUP ENETUNREACH
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if n := closed.count.Load(); n > 0 || exit.Network.Connections != 1 {
		t.Errorf("%d connections to what is not allowed, %+v", n, exit.Network)
	}
	_ = udp.SetReadDeadline(time.Now())
	if n, _, err := udp.ReadFrom(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a datagram of %d bytes has arrived, %v", n, err)
	}
}

// Names are asked for by datagram, connected or not, and nothing else is.
func TestSuperviseNames(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	got, exit := python(t, c, `
def query(name): return bytes([7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + bytes([0, 0, 1, 0, 1])
u = socket.socket(type=socket.SOCK_DGRAM)
u.settimeout(20)
for name in "host.docker.internal", "other.example":
    u.sendto(query(name), ("8.8.8.8", 53))
    print(u.recv(600)[3] & 15, end=" ")
u.connect(("1.1.1.1", 53))
u.send(query("localhost"))
print(u.recv(600)[-4:])
u.sendto(b"\x23" + bytes(47), ("129.6.15.28", 123)) # NTP
print(socket.gethostbyname("host.docker.internal"))
`)
	if got != "0 5 b'\\x7f\\x00\\x00\\x01'\n198.18.0.2\n" {
		t.Error(got)
	}
	unexpected(t, "violations", exit.Violations, "name other.example refused", "datagram refused: only TCP and name queries leave the sandbox")
}

// What a program has tried in its last moment is told too, though the relay has
// its pace and is behind.
func TestSuperviseLastWords(t *testing.T) {
	_, c := supervised(t)
	_, exit := python(t, c, `
def words(n):
    u = socket.socket(type=socket.SOCK_DGRAM)
    for i in range(n): u.sendto(b"last words", ("1.1.1.1", 7))
    return u
all = [words(1000)] + [words(8) for i in range(10)]
os._exit(0)`)
	unexpected(t, "violations", exit.Violations, "datagram refused: only TCP and name queries leave the sandbox (1080 times)")
}

// A program that is killed while it connects is not waited for, and is no
// failure of ours.
func TestSuperviseKilled(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	for i := range 10 {
		before := s.count.Load()
		running, out := startPython(t, c, `
def one():
    while True:
        with socket.socket() as s: connect(s.fileno(), address(ports[0]))
for i in range(8): threading.Thread(target=one).start()
`, s.port)
		for s.count.Load() == before {
			time.Sleep(time.Millisecond)
		}
		if err := running.Kill(); err != nil {
			t.Error(err)
		}
		exit, err := running.Wait()
		if err != nil || exit.Signal != int(unix.SIGKILL) || len(exit.Network.Failures) > 0 {
			t.Errorf("%d: %+v, %v\n%s", i, exit, err, out.String())
		}
	}
}

// connectTimes is how often the helper connects, and where to.
const connectTimes = "SANDBOX_TEST_CONNECT"

// TestHelperConnect is no test: another one runs it in a container. Its runtime
// interrupts its threads all the time.
func TestHelperConnect(t *testing.T) {
	address := os.Getenv(connectTimes)
	if address == "" {
		t.Skip("run by TestSuperviseGo")
	}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		})
	}
	for range 1000 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "you\n")
		if got, err := io.ReadAll(conn); string(got) != "hello you\n" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		conn.Close()
	}
	close(stop)
	busy.Wait()
}

// Go's runtime interrupts system calls to stop a goroutine.
func TestSuperviseGo(t *testing.T) {
	s := newCounter(t)
	_, c := supervised(t, s.port)
	ourselves(t, c)
	var out bytes.Buffer
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: []string{sandbox.WorkspaceDir + "/ourselves", "-test.run=^TestHelperConnect$"}, Stdout: &out, Stderr: &out,
		Env: []string{connectTimes + "=127.0.0.1:" + s.port, "TMPDIR=" + sandbox.WorkspaceDir}, // where a binary that is built for coverage writes
	})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := running.Wait()
	if err != nil || exit.Code != 0 || exit.Network.Connections != 1000 || s.count.Load() != 1000 || len(exit.Network.Failures) > 0 {
		t.Errorf("%+v, %v, the server counts %d:\n%s", exit, err, s.count.Load(), out.String())
	}
}

// The same with what is left of root in many containers: neither other users'
// memory nor a network is for these capabilities to have.
func TestSuperviseWithFewCapabilities(t *testing.T) {
	fewCapabilities(t, "^TestSupervise", "FewCapabilities")
}
