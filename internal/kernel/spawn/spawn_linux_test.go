package spawn_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

func start(t testing.TB) *spawn.Server {
	t.Helper()
	s, err := spawn.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// run appends a fork of argv whose standard output is out.
func run(p *spawn.Program, out *os.File, argv ...string) {
	file := p.File(int(out.Fd()))
	p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		p.Call("dup3", unix.SYS_DUP3, file, spawn.FD(1), spawn.Value(0))
		p.Call("execve "+argv[0], unix.SYS_EXECVE, p.String(argv[0]), p.Strings(argv), p.Strings([]string{"A=b"}))
	})
}

func TestExecAndWait(t *testing.T) {
	s := start(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var p spawn.Program
	run(&p, w, "/bin/sh", "-c", "echo $A; exit 3")
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	exit, err := s.Wait(reply.PID)
	if err != nil {
		t.Fatal(err)
	}
	if exit.Status.ExitStatus() != 3 {
		t.Errorf("exit status %d, want 3", exit.Status.ExitStatus())
	}
	var buf [16]byte
	if n, _ := r.Read(buf[:]); string(buf[:n]) != "b\n" {
		t.Errorf("output %q, want %q", buf[:n], "b\n")
	}
	if !s.Idle() {
		t.Error("the only child has ended, and the server does not know that none is left")
	}
}

func TestFailedStepIsNamed(t *testing.T) {
	s := start(t)
	var p spawn.Program
	p.Call("chdir to nowhere", unix.SYS_CHDIR, p.String("/no/such/place"))
	_, err := s.Do(&p)
	var step *spawn.StepError
	if !errors.As(err, &step) || step.Step != "chdir to nowhere" || step.Errno != unix.ENOENT {
		t.Fatalf("error %v, want ENOENT of the named step", err)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("errors.Is does not see the errno")
	}
}

func TestFailedExecIsTheChilds(t *testing.T) {
	s := start(t)
	var p spawn.Program
	run(&p, os.Stderr, "/no/such/program")
	_, err := s.Do(&p)
	if err == nil || !strings.HasPrefix(err.Error(), "execve /no/such/program: ") {
		t.Fatalf("error %v, want that of execve", err)
	}
	// The server is as good as new.
	var q spawn.Program
	q.Call("getpid", unix.SYS_GETPID)
	if _, err := s.Do(&q); err != nil {
		t.Fatal(err)
	}
	s.WaitIdle()
}

func TestAllowAndCells(t *testing.T) {
	s := start(t)
	dir := t.TempDir()
	var p spawn.Program
	p.Call("mkdir", unix.SYS_MKDIRAT, spawn.FD(unix.AT_FDCWD), p.String(dir), spawn.Value(0o700)).Allow(unix.EEXIST)
	fd := p.Call("open", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(dir), spawn.Value(unix.O_DIRECTORY)).Save()
	p.Call("mkdirat", unix.SYS_MKDIRAT, fd, p.String("inner"), spawn.Value(0o700))
	p.SendFiles(fd)
	p.Call("close", unix.SYS_CLOSE, fd)
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Files) != 1 {
		t.Fatalf("%d descriptors came back, want 1", len(reply.Files))
	}
	defer reply.Files[0].Close()
	names, err := reply.Files[0].Readdirnames(-1)
	if err != nil || len(names) != 1 || names[0] != "inner" {
		t.Errorf("names %v, %v", names, err)
	}
}

func TestForkedInitIsPid1AndDiesWithItsSocket(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: the new pid namespace is made without a user namespace")
	}
	s := start(t)
	init, err := s.Fork(spawn.Namespaced{Flags: unix.CLONE_NEWPID})
	if err != nil {
		t.Fatal(err)
	}
	r, w, _ := os.Pipe()
	var p spawn.Program
	run(&p, w, "/bin/sh", "-c", "echo $$; setsid sleep 1000 & exec sleep 1000")
	reply, err := init.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	var buf [16]byte
	if n, _ := r.Read(buf[:]); string(buf[:n]) != "2\n" || reply.PID != 2 {
		t.Errorf("the first program has pid %q (%d), want 2", buf[:n], reply.PID)
	}
	init.Close() // end of file: init ends, the kernel kills its namespace
	if _, err := s.Wait(init.PID); err != nil {
		t.Fatal(err)
	}
	if n, _ := r.Read(buf[:]); n != 0 { // blocks while a sleep holds the pipe
		t.Errorf("read %q after the end", buf[:n])
	}
	if _, err := init.Wait(2); !errors.Is(err, spawn.ErrGone) {
		t.Errorf("Wait on a dead init: %v, want ErrGone", err)
	}
}

func TestMessageTooLong(t *testing.T) {
	s := start(t)
	var p spawn.Program
	run(&p, os.Stderr, "/bin/true", strings.Repeat("x", 300<<10))
	if _, err := s.Do(&p); err == nil || !strings.Contains(err.Error(), "KiB") {
		t.Fatalf("error %v, want one about the size", err)
	}
}

func BenchmarkExecTrue(b *testing.B) {
	s := start(b)
	for b.Loop() {
		var p spawn.Program
		run(&p, os.Stderr, "/bin/true")
		reply, err := s.Do(&p)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Wait(reply.PID); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s, err := spawn.Start()
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkForkNamespaces(b *testing.B) {
	s := start(b)
	const flags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET
	for b.Loop() {
		init, err := s.Fork(spawn.Namespaced{Flags: flags})
		if err != nil {
			b.Fatal(err)
		}
		init.Close()
		init.Pidfd.Close()
		if _, err := s.Wait(init.PID); err != nil {
			b.Fatal(err)
		}
	}
}
