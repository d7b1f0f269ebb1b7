package spawn

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// escapees is a shell program whose children try to get away from their parent
// in every way that needs no privilege. Each holds the standard output; a line
// comes when all of them are there.
const escapees = `
trap '' TERM HUP INT
setsid sh -c 'trap "" TERM HUP; sleep 1000' &
(setsid sh -c 'sleep 1000 & exec sleep 1000' &)
(sleep 1000 & sleep 1000 &) &
sh -c 'kill -STOP $$' &
setsid sh -c '(sh -c "kill -STOP \$\$" &) ; kill -STOP $$' &
sleep 1000 &
for i in 1 2 3 4 5 6 7 8; do (sh -c 'sleep 1000' &); done
echo ready
exec sleep 1000
`

// subreaper starts a spawner to which orphans come, with a tree of escapees. The
// pipe that it returns is at its end when none of them is left.
func subreaper(t *testing.T) (*Server, *os.File, int) {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	defer w.Close()
	var p Program
	out := p.File(int(w.Fd()))
	p.Call("prctl PR_SET_CHILD_SUBREAPER", unix.SYS_PRCTL, Value(unix.PR_SET_CHILD_SUBREAPER), Value(1))
	p.Fork("fork", unix.SYS_CLONE, []Arg{Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		p.Call("dup3", unix.SYS_DUP3, out, FD(1), Value(0))
		p.Call("execve", unix.SYS_EXECVE, p.String("/bin/sh"), p.Strings([]string{"sh", "-c", escapees}), p.Strings([]string{"PATH=/usr/bin:/bin"}))
	})
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	var line [6]byte
	if _, err := io.ReadFull(r, line[:]); err != nil || string(line[:]) != "ready\n" {
		t.Fatalf("the shell said %q, %v", line, err)
	}
	return s, r, reply.PID
}

// wantNobody fails unless everybody who could write to the pipe is gone.
func wantNobody(t *testing.T, r *os.File) {
	t.Helper()
	if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
		t.Errorf("read %q, %v; want the end of the pipe", rest, err)
	}
}

func TestKillTreeLeavesNobody(t *testing.T) {
	s, r, pid := subreaper(t)
	var p Program
	p.KillTree()
	if _, err := s.Do(&p); err != nil {
		t.Fatal(err)
	}
	wantNobody(t, r)
	if exit, err := s.Wait(pid); err != nil || exit.Status.Signal() != unix.SIGKILL {
		t.Errorf("the shell ended with %v, %v", exit.Status, err)
	}
	s.WaitIdle()
	// The server is as good as new.
	var again Program
	again.Call("getpid", unix.SYS_GETPID)
	if _, err := s.Do(&again); err != nil {
		t.Error(err)
	}
}

// What a child leaves behind is known when its end is.
func TestAChildThatLeavesOthersIsNotTheLast(t *testing.T) {
	s, r, pid := subreaper(t)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil { // the spawner is in our namespace
		t.Fatal(err)
	}
	if _, err := s.Wait(pid); err != nil {
		t.Fatal(err)
	}
	if s.Idle() {
		t.Error("a dozen processes live, and the server takes the first for the last")
	}
	var p Program
	p.KillTree()
	if _, err := s.Do(&p); err != nil {
		t.Fatal(err)
	}
	wantNobody(t, r)
	s.WaitIdle()
}

// ladder is a program each of whose processes has one child: the last of them makes
// another as soon as there is room for one more.
const ladder = `
import os, time
os.write(1, b"ready\n")
while True:
    try:
        if os.fork() > 0: time.sleep(3600)
    except OSError:
        pass
`

// bush is a program whose processes all make as many children as there is room for, end
// the moment that they can be seen, and have one another go on.
const bush = `
import os, signal, threading
os.write(1, b"ready\n")
def grow():
    while True:
        try:
            if os.fork() == 0:
                threading.Thread(target=grow).start()
                if os.fork() > 0: os._exit(0)
            os.waitpid(-1, os.WNOHANG)
            os.kill(0, signal.SIGCONT)
        except OSError:
            pass
grow()
`

func TestKillTreeIsFaster(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: a user whose processes are limited")
	}
	for name, code := range map[string]string{"ladder": ladder, "bush": bush} {
		t.Run(name, func(t *testing.T) {
			s, err := Start()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			var p Program
			user, out := Value(54321), p.File(int(w.Fd()))
			limit := p.Bytes(unsafe.Slice((*byte)(unsafe.Pointer(&unix.Rlimit{Cur: 64, Max: 64})), unsafe.Sizeof(unix.Rlimit{})))
			p.Call("prctl PR_SET_CHILD_SUBREAPER", unix.SYS_PRCTL, Value(unix.PR_SET_CHILD_SUBREAPER), Value(1))
			p.Fork("fork", unix.SYS_CLONE, []Arg{Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
				p.Call("dup3", unix.SYS_DUP3, out, FD(1), Value(0))
				p.Call("setsid", unix.SYS_SETSID)
				p.Call("prlimit64", unix.SYS_PRLIMIT64, Value(0), Value(unix.RLIMIT_NPROC), limit, Value(0))
				p.Call("setresuid", unix.SYS_SETRESUID, user, user, user)
				p.Call("execve", unix.SYS_EXECVE, p.String("/usr/bin/python3"), p.Strings([]string{"python3", "-S", "-c", code}), p.Strings([]string{"PATH=/usr/bin:/bin"}))
			})
			if _, err := s.Do(&p); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var line [6]byte
			if _, err := io.ReadFull(r, line[:]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond) // for all that there may be
			var kill Program
			kill.KillTree()
			if _, err := s.Do(&kill); err != nil {
				t.Fatal(err)
			}
			wantNobody(t, r)
		})
	}
}

func TestKillTreeOfNobody(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var p Program
	p.KillTree()
	if _, err := s.Do(&p); err != nil {
		t.Error(err)
	}
}

// A spawner whose socket closes takes everything with it.
func TestCloseKillsTheTree(t *testing.T) {
	s, r, _ := subreaper(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantNobody(t, r)
}

// A container's init dies when it is told to, and its spawner says so.
func TestKillInit(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	called := false
	init, err := s.Fork(Namespaced{Child: func(p *Program) { called = true; p.Call("setsid", unix.SYS_SETSID) }})
	if err != nil {
		t.Fatal(err)
	}
	defer init.Pidfd.Close()
	defer init.Close()
	var p Program
	p.Call("getpid", unix.SYS_GETPID)
	if _, err := init.Do(&p); err != nil || !called {
		t.Errorf("%v, the child's program was asked for: %v", err, called)
	}
	if err := init.Kill(); err != nil {
		t.Error(err)
	}
	if exit, err := s.Wait(init.PID); err != nil || exit.Status.Signal() != unix.SIGKILL {
		t.Errorf("%+v, %v", exit, err)
	}
	if err := init.Kill(); err != nil {
		t.Errorf("Kill of the dead: %v", err)
	}
	init.Pidfd.Close() // by whoever has waited, while somebody gives up on it: the number may be another's
	if err := init.Kill(); err != nil {
		t.Errorf("Kill of the dead that nobody holds any more: %v", err)
	}
	if _, err := init.Do(&p); err != ErrGone {
		t.Errorf("Do on the dead: %v", err)
	}
}

// An init's children can die faster than it buries them: those of a program that makes them
// its father's. It hears in between what it is told. Here the message and the dead are there
// together once it goes on, and the message finds some of them not buried.
func TestAnInitThatBuriesHears(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var p Program
	until, ours, b := p.File(int(r.Fd())), p.File(int(w.Fd())), p.Bytes(make([]byte, 1))
	for range 500 {
		p.Fork("fork", unix.SYS_CLONE, []Arg{Value(uintptr(unix.SIGCHLD))}, func() {
			p.Call("close", unix.SYS_CLOSE, ours)
			p.Call("read", unix.SYS_READ, until, b, Value(1))
		})
	}
	_, err = s.Do(&p)
	if err == nil {
		_, err = s.Do(new(Program)) // by then it has closed what it was sent
	}
	if err == nil {
		err = unix.Kill(s.conn.(*socket).pid, unix.SIGSTOP)
	}
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	for r.Close(); living(t, s.conn.(*socket).pid) > 0; time.Sleep(time.Millisecond) {
	}
	answered := make(chan error)
	go func() {
		var p Program
		p.Call("waitid", unix.SYS_WAITID, Value(unix.P_ALL), Value(0), Value(0), Value(unix.WEXITED|unix.WNOHANG|unix.WNOWAIT), Value(0))
		_, err := s.Do(&p)
		answered <- err
	}()
	for unread := 0; unread == 0; time.Sleep(time.Millisecond) {
		_ = s.conn.(*socket).raw.Control(func(fd uintptr) { unread, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Kill(s.conn.(*socket).pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("%v, where the message came before the last of the dead", err)
	}
	s.WaitIdle()
}

// living counts the children of a process that are not dead.
func living(t *testing.T, pid int) (n int) {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for child := range strings.FieldsSeq(string(list)) {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(stat), ") Z ") {
			n++
		}
	}
	return n
}

// An init that fails on its way has already taken its own socket: the first
// program that is sent to it fails, and nobody waits for ever.
func TestForkThatFails(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	init, err := s.Fork(Namespaced{Child: func(p *Program) { p.Call("go nowhere", unix.SYS_CHDIR, p.String("/no/such/place")) }})
	if err == nil {
		defer init.Pidfd.Close()
		defer init.Close()
		var p Program
		p.Call("getpid", unix.SYS_GETPID)
		_, err = init.Do(&p)
	}
	if err == nil {
		t.Error("an init that failed serves")
	}
	s.WaitIdle()
	s.Close()
	if _, err := s.Fork(Namespaced{}); err != ErrGone {
		t.Errorf("Fork on a closed spawner: %v", err)
	}
}

// A program that fails leaves no descriptor in its server: neither that of the
// group that a child should have been born in nor those that it meant to send.
func TestFailuresLeaveNoDescriptors(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	noGroup, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer noGroup.Close()
	// When this is made, what came before it is done for.
	var last Program
	last.Call("getpid", unix.SYS_GETPID)
	if _, err := s.Do(&last); err != nil {
		t.Fatal(err)
	}
	before := openDescriptors(t, s.conn.(*socket).pid)
	for range 3 {
		var fork, send Program
		fork.ForkInto(noGroup, "fork", 0, Arg{}, func() {})
		if _, err := s.Do(&fork); err == nil || !strings.HasPrefix(err.Error(), "fork: ") {
			t.Errorf("a child in a directory that is no group: %v", err)
		}
		send.SendFiles(send.File(int(noGroup.Fd())), FD(1<<20))
		if _, err := s.Do(&send); err == nil || !strings.HasPrefix(err.Error(), "send descriptors: ") {
			t.Errorf("a descriptor that is none: %v", err)
		}
		if _, err := s.Do(&last); err != nil {
			t.Fatal(err)
		}
	}
	if after := openDescriptors(t, s.conn.(*socket).pid); after != before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
}

// openDescriptors counts those of a process.
func openDescriptors(t *testing.T, pid int) int {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// compilers are the ones that made the checked-in programs.
var compilers = []struct{ arch, program string }{{"amd64", "x86_64-linux-gnu-gcc"}, {"arm64", "aarch64-linux-gnu-gcc"}}

const compilerVersion = "12.2.0"

// TestInitIsBuiltFromItsSource: what is checked in is what the source says.
func TestInitIsBuiltFromItsSource(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.arch, func(t *testing.T) {
			version, err := exec.Command(c.program, "-dumpfullversion").Output()
			if err != nil {
				t.Skipf("%s is not installed: apt-get install gcc gcc-aarch64-linux-gnu", c.program)
			}
			if got := strings.TrimSpace(string(version)); got != compilerVersion {
				t.Skipf("%s is version %s; only %s makes the same bytes", c.program, got, compilerVersion)
			}
			out := t.TempDir()
			build := exec.Command("sh", "init/build.sh", out)
			build.Env = append(os.Environ(), "ARCHS="+c.arch)
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, name := range []string{"init_" + c.arch, "ancestor_" + c.arch + ".so"} {
				var sums [2][sha256.Size]byte
				for i, dir := range []string{"init", out} {
					program, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						t.Fatal(err)
					}
					sums[i] = sha256.Sum256(program)
				}
				if sums[0] != sums[1] {
					t.Errorf("%s is %x, its source makes %x: run init/build.sh", name, sums[0], sums[1])
				}
			}
		})
	}
}

// System calls of arm64, which this test speaks on whatever machine it runs.
const (
	arm64Clone = 220
	arm64Write = 64
	arm64Chdir = 49
)

// TestInitOfARM64 talks to the other architecture's init under emulation.
func TestInitOfARM64(t *testing.T) {
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("qemu-aarch64-static is not installed: apt-get install qemu-user-static")
	}
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(theirs), "socket")
	init := exec.Command(emulator, "init/init_arm64")
	init.ExtraFiles = []*os.File{socket} // descriptor 3
	if err := init.Start(); err != nil {
		t.Fatal(err)
	}
	socket.Close()
	s := newServer(ours, 0)
	defer s.Close()

	var hello Program
	number := hello.Bytes(make([]byte, 4))
	hello.SetInt(number, 0, hello.File(int(w.Fd())))
	hello.Call("write", arm64Write, hello.Cell(number, 0), hello.String("hello"), Value(5))
	hello.Call("chdir", arm64Chdir, hello.String("/no/such/place"))
	if _, err := s.Do(&hello); text(err) != "chdir: no such file or directory" {
		t.Errorf("error %v", err)
	}
	var child Program
	child.Fork("fork", arm64Clone, []Arg{Value(uintptr(unix.SIGCHLD))}, func() {
		child.Call("write", arm64Write, child.File(int(w.Fd())), child.String(", child"), Value(7))
	})
	reply, err := s.Do(&child)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := s.Wait(reply.PID); err != nil || exit.Status != 0 {
		t.Errorf("the child ended with %v, %v", exit.Status, err)
	}
	s.WaitIdle()
	w.Close()
	s.Close()
	if err := init.Wait(); err != nil {
		t.Errorf("at the end of its socket the init ended with %v", err)
	}
	if said, err := io.ReadAll(r); string(said) != "hello, child" || err != nil {
		t.Errorf("it wrote %q, %v", said, err)
	}
}
