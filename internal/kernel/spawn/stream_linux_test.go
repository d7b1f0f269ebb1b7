package spawn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pipes are the two ends of an init that serves its standard streams.
type pipes struct {
	io.Writer
	io.Reader
	close func() error
}

func (p pipes) Close() error { return p.close() }

// startStream starts an init in a pid namespace of its own, as its first process.
func startStream(t testing.TB) *Server {
	t.Helper()
	program := filepath.Join(t.TempDir(), "init")
	if err := os.WriteFile(program, InitProgram(), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, StreamArgs[1:]...)
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no pid namespace can be made here: %v", err)
	}
	s := Stream(pipes{stdin, stdout, func() error { return errors.Join(stdin.Close(), stdout.Close()) }})
	t.Cleanup(func() {
		s.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the init: %v", err)
		}
	})
	return s
}

// carryShell appends a shell whose three streams are carried.
func carryShell(p *Program, script string) {
	ends := p.Bytes(make([]byte, 24))
	for i := range 3 {
		p.Call("pipe2", unix.SYS_PIPE2, Arg{argPointer, ends.value + uint64(8*i)}, Value(unix.O_CLOEXEC))
		ours := p.Cell(ends, 8*i)
		if i == 0 {
			ours = p.Cell(ends, 4)
			p.Call("fcntl", unix.SYS_FCNTL, ours, Value(unix.F_SETFL), Value(unix.O_NONBLOCK))
		}
		p.Carry(i, ours)
	}
	p.Fork("fork", unix.SYS_CLONE, []Arg{Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		for i, theirs := range []int{0, 12, 20} {
			p.Call("dup3", unix.SYS_DUP3, p.Cell(ends, theirs), FD(i), Value(0))
		}
		p.Call("rt_sigprocmask", unix.SYS_RT_SIGPROCMASK, Value(unix.SIG_SETMASK), p.Bytes(make([]byte, 8)), Value(0), Value(8))
		p.Call("execve", unix.SYS_EXECVE, p.String("/bin/sh"), p.Strings([]string{"sh", "-c", script}), p.Strings([]string{"PATH=/bin:/usr/bin"}))
	})
}

// talk runs a script with an input and returns what it writes and its end.
func talk(t *testing.T, s *Server, script, input string) (stdout, stderr string, exit Exit) {
	t.Helper()
	var p Program
	carryShell(&p, script)
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	in, out, errs := s.Writer(), s.Reader(1), s.Reader(2)
	go func() {
		_, _ = io.WriteString(in, input)
		_ = in.Close()
	}()
	all := make(chan string)
	go func() {
		b, _ := io.ReadAll(errs)
		all <- string(b)
	}()
	b, err := io.ReadAll(out)
	if err != nil {
		t.Error(err)
	}
	stderr = <-all
	if exit, err = s.Wait(reply.PID); err != nil {
		t.Error(err)
	}
	s.WaitIdle()
	_ = in.Close()
	return string(b), stderr, exit
}

func TestStreamCarriesStreams(t *testing.T) {
	s := startStream(t)
	for range 3 {
		out, errs, exit := talk(t, s, "cat; echo error >&2; exit 7", "input\n")
		if out != "input\n" || errs != "error\n" || exit.Status.ExitStatus() != 7 || exit.Status.Signaled() {
			t.Errorf("%q, %q, %+v", out, errs, exit)
		}
	}
	// More than any buffer on the way, in both directions.
	big := strings.Repeat("0123456789abcdef", 1<<18)
	if out, _, _ := talk(t, s, "cat", big); out != big {
		t.Errorf("%d bytes came back of %d", len(out), len(big))
	}
	// A program that reads nothing does not hold the writer up.
	if out, _, exit := talk(t, s, "exec <&-; echo done; kill -9 $$", big); out != "done\n" || exit.Status.Signal() != unix.SIGKILL {
		t.Errorf("%q, %+v", out, exit)
	}
	if out, _, _ := talk(t, s, "cat; ls /proc/self/fd | wc -l", "again\n"); out != "again\n4\n" {
		t.Errorf("%q: a stale input, or descriptors that reach the program", out)
	}
}

// TestStreamPressure: nobody remembers what nobody reads.
func TestStreamPressure(t *testing.T) {
	s := startStream(t)
	var p Program
	carryShell(&p, "head -c 8m /dev/zero; echo written >&2")
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Writer().Close()
	out, errs := s.Reader(1), s.Reader(2)
	said := make(chan string)
	go func() {
		b, _ := io.ReadAll(errs)
		said <- string(b)
	}()
	select {
	case words := <-said:
		t.Errorf("the program ended (%q) while nobody read", words)
	case <-time.After(300 * time.Millisecond):
	}
	if n, err := io.Copy(io.Discard, out); n != 8<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if words := <-said; words != "written\n" {
		t.Error(words)
	}
	if _, err := s.Wait(reply.PID); err != nil {
		t.Error(err)
	}
}

func TestStreamAnswers(t *testing.T) {
	s := startStream(t)
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p Program
	count, content := p.Answer(4), p.Answer(100)
	fd := p.Call("open", unix.SYS_OPENAT, FD(unix.AT_FDCWD), p.String(name), Value(unix.O_RDONLY), Value(0)).Save()
	p.Call("read", unix.SYS_READ, fd, content, Value(100)).SaveAt(count, 0)
	reply, err := s.Do(&p)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.NativeEndian.Uint32(count.Of(reply, 4))
	if n != 7 || !bytes.Equal(content.Of(reply, 100), append([]byte("content"), make([]byte, 93)...)) {
		t.Errorf("%d bytes: %q", n, reply.Answer)
	}
	// What it opened is closed, also when it fails.
	for range 300 {
		var leak Program
		leak.Call("open", unix.SYS_OPENAT, FD(unix.AT_FDCWD), leak.String(name), Value(unix.O_RDONLY), Value(0))
		leak.Call("open", unix.SYS_OPENAT, FD(unix.AT_FDCWD), leak.String("/no/such"), Value(unix.O_RDONLY), Value(0))
		if _, err := s.Do(&leak); !errors.Is(err, unix.ENOENT) {
			t.Fatal(err)
		}
	}
	var next Program
	lowest := next.Answer(4)
	next.Call("open", unix.SYS_OPENAT, FD(unix.AT_FDCWD), next.String(name), Value(unix.O_RDONLY), Value(0)).SaveAt(lowest, 0)
	if reply, err = s.Do(&next); err != nil {
		t.Fatal(err)
	}
	if fd := binary.NativeEndian.Uint32(lowest.Of(reply, 4)); fd != 9 {
		t.Errorf("the next descriptor is %d", fd)
	}
}

func TestStreamFailures(t *testing.T) {
	s := startStream(t)
	var p Program
	p.Fork("fork", unix.SYS_CLONE, []Arg{Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		p.Call("execve", unix.SYS_EXECVE, p.String("/no/such/program"), p.Strings([]string{"x"}), p.Strings(nil))
	})
	if _, err := s.Do(&p); err == nil || err.Error() != "execve: no such file or directory" {
		t.Errorf("%v", err)
	}
	if out, _, _ := talk(t, s, "echo fine", ""); out != "fine\n" {
		t.Errorf("%q", out)
	}
	// The init takes all with it.
	var sleeper Program
	carryShell(&sleeper, "sleep 1000")
	reply, err := s.Do(&sleeper)
	if err != nil {
		t.Fatal(err)
	}
	out := s.Reader(1)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(out); !errors.Is(err, ErrGone) {
		t.Errorf("reading from an init that is gone: %v", err)
	}
	if _, err := s.Wait(reply.PID); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if _, err := s.Writer().Write([]byte("x")); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// FuzzStream lets an init say anything over a byte stream.
func FuzzStream(f *testing.F) {
	f.Add(append(recordBytes(recordDone, 1, 42, 0), recordBytes(recordOutput, 0, 1, 0)...))
	f.Add(recordBytes(recordInput, 0, 0, 0))
	f.Fuzz(func(t *testing.T, said []byte) {
		r, w := io.Pipe()
		s := Stream(pipes{io.Discard, r, r.Close})
		defer s.Close()
		var p Program
		p.Answer(8)
		p.Fork("fork", 2, nil, func() {})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = s.Do(&p)
		}()
		out := s.Reader(1)
		_, _ = w.Write(said)
		w.Close()
		<-done
		if n, _ := io.Copy(io.Discard, out); n > int64(len(said)) || n > window {
			t.Errorf("%d bytes of output in %d", n, len(said))
		}
		s.WaitIdle()
	})
}

// A program that writes a byte at a time has its reader take what there is in one.
func TestReadTakesManyPieces(t *testing.T) {
	r := &Reader{granted: window} // so that no more is asked for
	r.cond = sync.NewCond(&r.mu)
	for _, piece := range []string{"a", "b", "cde", "fg"} {
		if err := r.put([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"abcd", "efg"} {
		var b [4]byte
		if n, err := r.Read(b[:]); err != nil || string(b[:n]) != want {
			t.Errorf("read %q, %v, want %q", b[:n], err, want)
		}
	}
}
