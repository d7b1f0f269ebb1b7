package netns_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
)

// A room is a network namespace with a copy of this test's binary in it, which
// does what a container's init does: it makes sockets, hands them out, and
// starts programs that have no rights over the namespace.

const (
	roomEnv = "NETNS_TEST_ROOM" // what the room is told
	deedEnv = "NETNS_TEST_DEED" // what a program in it does
	nobody  = 65534
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(roomEnv) != "":
		os.Exit(beRoom(os.Getenv(roomEnv)))
	case os.Getenv(deedEnv) != "":
		os.Exit(do(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// order is what a room is told.
type order struct {
	Sockets []netns.Socket
	Sysctls []netns.Sysctl
	Files   map[string]string // mounted over files of the host
	Root    bool              // programs become nobody; else they get a user namespace of their own
}

// command is a program to run in the room, and outcome how that went.
type command struct{ Args, Env []string }

type outcome struct {
	Output string
	Error  string
}

type room struct {
	t     testing.TB
	root  bool
	cmd   *exec.Cmd
	conn  *net.UnixConn
	files []*os.File // one for each socket
}

// coverDir is where a binary that was built for coverage leaves its data. Without
// one it complains, amid what the tests read.
const coverDir = "GOCOVERDIR"

func coverage(t testing.TB) []string {
	if testing.CoverMode() == "" {
		return nil
	}
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return []string{coverDir + "=" + dir}
}

// newRoom makes a room with these sockets.
func newRoom(t testing.TB, sockets ...netns.Socket) *room {
	t.Helper()
	return newRoomWith(t, nil, sockets...)
}

// newRoomWith makes a room that has further settings.
func newRoomWith(t testing.TB, more []netns.Sysctl, sockets ...netns.Socket) *room {
	t.Helper()
	r := &room{t: t, root: os.Geteuid() == 0}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "room")
	defer theirs.Close()
	r.conn = fileConn(t, pair[0])
	t.Cleanup(func() { r.conn.Close() })
	text, _ := json.Marshal(order{sockets, append(netns.Sysctls(), more...), r.etc(), r.root})
	r.cmd = exec.Command("/proc/self/exe")
	r.cmd.Env = append(coverage(t), roomEnv+"="+string(text), "GOMAXPROCS=1")
	r.cmd.ExtraFiles = []*os.File{theirs}
	r.cmd.Stderr = os.Stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	if !r.root {
		r.cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		r.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		r.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if err := r.cmd.Start(); err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
			t.Skipf("needs a network namespace: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { r.conn.Close(); r.cmd.Wait() })
	r.receive(len(sockets))
	return r
}

// etc is what /etc tells in a room.
func (r *room) etc() map[string]string {
	dir := r.t.TempDir()
	os.Chmod(dir, 0o755)
	files := map[string]string{}
	for name, content := range map[string]string{
		"/etc/resolv.conf":   "nameserver 198.18.0.1\n",
		"/etc/hosts":         "127.0.0.1 localhost\n",
		"/etc/nsswitch.conf": "hosts: files dns\n",
	} {
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			r.t.Fatal(err)
		}
		files[name] = path
	}
	return files
}

func fileConn(t testing.TB, fd int) *net.UnixConn {
	t.Helper()
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn)
}

func (r *room) receive(n int) {
	r.t.Helper()
	text, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*64))
	r.conn.SetReadDeadline(time.Now().Add(time.Minute))
	size, oobn, _, _, err := r.conn.ReadMsgUnix(text, oob)
	if err != nil || string(text[:size]) != "ready" {
		r.t.Fatalf("the room cannot be made: %s %v", text[:size], err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 {
		r.t.Fatalf("%d messages with descriptors, %v", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != n {
		r.t.Fatalf("%d descriptors of %d, %v", len(fds), n, err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "from the room")
		r.files = append(r.files, f)
		r.t.Cleanup(func() { f.Close() })
	}
}

// run runs a program in the room and returns its output. It may fail.
func (r *room) run(env []string, args ...string) (string, error) {
	text, _ := json.Marshal(command{args, env})
	if _, err := r.conn.Write(text); err != nil {
		return "", err
	}
	answer := make([]byte, 64<<10)
	r.conn.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := r.conn.Read(answer)
	if err != nil {
		return "", err
	}
	var o outcome
	if err := json.Unmarshal(answer[:n], &o); err != nil {
		return "", err
	}
	if o.Error != "" {
		return o.Output, fmt.Errorf("%s: %s", o.Error, o.Output)
	}
	return o.Output, nil
}

// do has a copy of this test's binary do something in the room.
func (r *room) do(args ...string) string {
	r.t.Helper()
	out, err := r.run([]string{deedEnv + "=1", "GOMAXPROCS=1"}, append([]string{"/proc/self/exe"}, args...)...)
	if err != nil {
		r.t.Fatalf("%q: %v", args, err)
	}
	return out
}

// beRoom is the room's side.
func beRoom(text string) int {
	conn, err := net.FileConn(os.NewFile(3, "room"))
	if err != nil {
		return 98
	}
	unix.CloseOnExec(3)
	socket := conn.(*net.UnixConn)
	var o order
	err = json.Unmarshal([]byte(text), &o)
	var fds []int
	if err == nil {
		fds, err = furnish(o)
	}
	if err != nil {
		fmt.Fprint(socket, err)
		return 97
	}
	if _, _, err := socket.WriteMsgUnix([]byte("ready"), unix.UnixRights(fds...), nil); err != nil {
		return 96
	}
	for {
		b := make([]byte, 64<<10)
		n, err := socket.Read(b)
		if err != nil || n == 0 {
			return 0
		}
		var c command
		json.Unmarshal(b[:n], &c)
		answer, _ := json.Marshal(runProgram(c, o.Root))
		socket.Write(answer)
	}
}

// furnish does what a container's init is told to do with the package's data.
func furnish(o order) (fds []int, err error) {
	for _, s := range o.Sysctls {
		if err := os.WriteFile(s.Path, []byte(s.Value), 0); err != nil {
			return nil, err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	for to, from := range o.Files {
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			return nil, fmt.Errorf("mount %s: %w", to, err)
		}
	}
	for _, s := range o.Sockets {
		f, err := s.Make()
		if err != nil {
			return nil, err
		}
		fd, err := unix.Dup(int(f.Fd()))
		f.Close()
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func runProgram(c command, root bool) outcome {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=/tmp", coverDir + "=" + os.Getenv(coverDir)}, c.Env...)
	cmd.Dir = "/tmp"
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if root {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return outcome{Error: err.Error()}
	}
	late := time.AfterFunc(50*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return outcome{Output: out.String(), Error: err.Error()}
	}
	return outcome{Output: out.String()}
}
