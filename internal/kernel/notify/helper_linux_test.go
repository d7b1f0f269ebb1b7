package notify

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tests run this test's binary again, twice in one process: first it puts
// itself under a filter that asks about connect(2) and sends the listener here,
// then it becomes itself once more, so that every thread has the filter, and
// plays a part.

// partEnv names the part, with its arguments behind spaces.
const partEnv = "NOTIFY_TEST_PART"

// olderEnv has the helper install its filter as on a kernel without
// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV.
const olderEnv = "NOTIFY_TEST_OLDER"

// socketFD is where the helper finds its socket.
const socketFD = 3

func TestMain(m *testing.M) {
	text, help := os.LookupEnv(partEnv)
	if !help {
		os.Exit(m.Run())
	}
	name, args, _ := strings.Cut(text, " ")
	if part, ok := strings.CutPrefix(name, "filtered:"); ok {
		play(part, strings.Fields(args))
	}
	os.Setenv(partEnv, "filtered:"+text)
	fail(enterFilter())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(99)
}

// enterFilter puts this process under the filter, sends the listener and becomes
// this program again.
func enterFilter() error {
	runtime.LockOSThread()
	flags, err := FilterFlags()
	if err != nil {
		return err
	}
	if os.Getenv(olderEnv) != "" {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CONNECT, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	listener, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	if err := unix.Sendmsg(socketFD, []byte{1}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// ask makes the call that the filter asks about.
func ask(args ...uintptr) (uintptr, syscall.Errno) {
	all := append(args, 0, 0, 0, 0, 0, 0)
	r, _, errno := unix.Syscall6(unix.SYS_CONNECT, all[0], all[1], all[2], all[3], all[4], all[5])
	return r, errno
}

// tell sends the test a line of values.
func tell(values ...any) { json.NewEncoder(os.Stdout).Encode(values) }

// program is a helper that runs.
type program struct {
	*testing.T
	cmd      *exec.Cmd
	listener *Listener
	words    io.WriteCloser // its standard input
	said     *bufio.Reader
	end      func() // waits for its end
}

// start starts a helper that plays a part.
func start(t *testing.T, part string) *program {
	t.Helper()
	if _, err := FilterFlags(); err != nil {
		t.Skip(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	defer unix.Close(pair[0])
	p := &program{T: t, cmd: exec.CommandContext(t.Context(), "/proc/self/exe")}
	p.cmd.Env = append(os.Environ(), partEnv+"="+part)
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.Stderr = os.Stderr
	if p.words, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.said = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.end = sync.OnceFunc(func() { _ = p.cmd.Wait() })
	t.Cleanup(p.kill)
	theirs.Close()
	p.listener = receiveListener(t, pair[0])
	t.Cleanup(func() { p.listener.Close() })
	return p
}

func receiveListener(t *testing.T, socket int) *Listener {
	t.Helper()
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		t.Fatalf("the helper sent no listener: %v", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	listener, err := New(os.NewFile(uintptr(fds[0]), "listener"))
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	p.end()
}

// receive takes the next call.
func (p *program) receive() Call {
	p.Helper()
	call, err := p.listener.Receive()
	if err != nil {
		p.Fatal(err)
	}
	return call
}

// hears compares a line of the helper's with values.
func (p *program) hears(want ...any) {
	p.Helper()
	line, err := p.said.ReadString('\n')
	if err != nil {
		p.Fatal(err)
	}
	text, _ := json.Marshal(want)
	if strings.TrimSpace(line) != string(text) {
		p.Errorf("the helper says %s, want %s", strings.TrimSpace(line), text)
	}
}

// number is a line of the helper's with one number.
func (p *program) number() int {
	p.Helper()
	line, err := p.said.ReadString('\n')
	if err != nil {
		p.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Trim(line, "[]\n"))
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// await waits until something is so. It is for what the kernel has no event for.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 2000 {
		if so() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: not in ten seconds", what)
}

// pending tells whether a call waits to be received.
func pending(t *testing.T, l *Listener) (is bool) {
	t.Helper()
	if err := l.raw.Control(func(fd uintptr) {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(ready, 0)
		is = ready[0].Revents&unix.POLLIN != 0
	}); err != nil {
		t.Fatal(err)
	}
	return is
}

// play plays a part and ends the process.
func play(name string, args []string) {
	var numbers []int
	for _, a := range args {
		n, _ := strconv.Atoi(a)
		numbers = append(numbers, n)
	}
	part, ok := parts[name]
	if !ok {
		fail(fmt.Errorf("no part %q", name))
	}
	part(append(numbers, slices.Repeat([]int{0}, 4)...))
	os.Exit(0)
}
