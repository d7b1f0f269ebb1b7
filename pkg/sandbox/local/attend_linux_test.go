package local

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// waitsHere has a program of the test wait until it is attended, or would be.
const waitsHere = `
import os, signal, sys, time
calls = []
signal.signal(signal.SIGUSR1, lambda *_: calls.append(1))
os.write(1, b"waits")
os.read(0, 1)
def linger():
    if not os.fork():
        os.setsid()
        time.sleep(1000)
`

// heard is what a process has written, and tells of the first.
type heard struct {
	strings.Builder
	once  sync.Once
	first chan struct{}
}

func (h *heard) Write(b []byte) (int, error) {
	defer h.once.Do(func() { close(h.first) })
	return h.Builder.Write(b)
}

// waitsIn starts a program that waits, and attends it if that is wanted.
func waitsIn(t *testing.T, c sandbox.Container, code string, attended bool) (pr *process, in io.WriteCloser, out *heard) {
	t.Helper()
	from, in := io.Pipe()
	out = &heard{first: make(chan struct{})}
	r, err := c.Start(t.Context(), sandbox.Process{Args: []string{pythonPath, "-S", "-c", waitsHere + code}, Stdin: from, Stdout: out, Stderr: out,
		Limits: sandbox.Limits{MemoryBytes: 128 << 20, Processes: 6, CPUs: 1}})
	if err != nil {
		t.Fatal(err)
	}
	<-out.first
	pr = r.(*process)
	if attended {
		attends(t, pr)
	}
	return pr, in, out
}

func attendanceOf(pr *process) *attendance {
	pr.attended.mu.Lock()
	defer pr.attended.mu.Unlock()
	return pr.attended.attendance
}

// attends has a process attended, or skips the test where nobody is.
func attends(t *testing.T, pr *process) {
	t.Helper()
	if !pr.group.held.processes || !pr.group.held.memory {
		t.Skip("no control group counts who is left when a process ends")
	}
	pr.Attend()
	if attendanceOf(pr) == nil {
		if os.Geteuid() != 0 {
			t.Skip("an ordinary user may trace no process that is not below its own (kernel.yama.ptrace_scope)")
		}
		t.Fatal("it is not attended")
	}
}

// A program that is attended, whatever it does, is as one that is not: its end, its output, its figures.
// What it leaves behind is dead when it has ended.
func TestAttend(t *testing.T) {
	rt := opened(t)
	for name, program := range map[string]struct {
		code string
		exit int    // its code
		held string // how the attendance ends, if not held
	}{
		"ends":            {code: `b = bytearray(b"x") * (40 << 20); os._exit(7)`, exit: 7},
		"ends with words": {code: `print("x" * 60000)`},
		"is killed":       {code: `os.kill(os.getpid(), 9)`, exit: 128 + 9, held: "no"},
		"kills by a call": {code: `signal.raise_signal(signal.SIGABRT)`, exit: 128 + 6, held: "no"},
		"executes":        {code: `os.execv("/bin/echo", ["echo", "another"])`},
		"has children":    {code: `print(os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0)[1])`, held: "no"},
		"sees no tracer":  {code: `print([l for l in open("/proc/self/status") if l.startswith("TracerPid")])`},
		"sees no other":   {code: `print(sorted(p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())))`},
		"is alone":        {code: "try: print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError as e: print(e)"},
		"counts":          {code: "n = 0\ntry:\n  while os.fork(): n += 1\n  time.sleep(1000)\nexcept OSError as e: print(n, e)", held: "no"},
		"leaves a child":  {code: `linger()`, held: "no"},
		"signals itself":  {code: `os.killpg(0, signal.SIGUSR1); print(calls)`, held: "no"},
		"has no name":     {code: "os.chdir('/workspace')\nf = open('x', 'wb')\nos.unlink('x')\nf.write(b'x' * (900 << 10))\nf.flush()\nos._exit(0)"},
		"leaves a thread": {code: "import _thread, ctypes\n_thread.start_new_thread(lambda: (time.sleep(0.05), os._exit(5)), ()); ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 3)", exit: 5, held: "no"},
		"is replaced":     {code: "import _thread\n_thread.start_new_thread(os.execv, ('/bin/sh', ['sh', '-c', 'sleep 0.05; echo another; exit 6'])); time.sleep(100)", exit: 6, held: "no"},
		"has threads":     {code: "import _thread\n[_thread.start_new_thread(time.sleep, (1000,)) for _ in range(3)]; time.sleep(0.05); os._exit(3)", exit: 3, held: "either"},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(attended bool) (string, sandbox.Exit) {
				c := created(t, rt, sandbox.LevelFull)
				defer c.Delete(t.Context())
				pr, in, out := waitsIn(t, c, program.code, attended)
				in.Write([]byte("x"))
				in.Close()
				exit, err := pr.Wait()
				if err != nil || exit.Code != program.exit {
					t.Fatalf("%+v, %v: %s", exit, err, out)
				}
				if held := attendanceOf(pr) != nil; attended && program.held != "either" && held != (program.held == "") {
					t.Errorf("held %v", held)
				}
				return out.String(), exit
			}
			out, exit := run(false)
			early, earlyExit := run(true)
			if early != out {
				t.Errorf("attended it says %q, and else %q", early, out)
			}
			if was, is := exit.Metrics.ProcessesPeak, earlyExit.Metrics.ProcessesPeak; was != nil && *is != *was {
				t.Errorf("attended it has had %d processes, and else %d", *is, *was)
			}
			if was, is := exit.Disk.BytesUsed, earlyExit.Disk.BytesUsed; is != was {
				t.Errorf("attended it has %d bytes on its disk, and else %d", is, was)
			}
			if earlyExit.Metrics.ContextSwitches == nil || *earlyExit.Metrics.ContextSwitches == 0 {
				t.Error("nobody has told its usage")
			}
		})
	}
}

// The next process of a container starts when the last one is gone, and what that had open is closed.
func TestAttendAndStartAnother(t *testing.T) {
	c := created(t, opened(t), sandbox.LevelFull)
	defer c.Delete(t.Context())
	pr, in, _ := waitsIn(t, c, "f = os.open('/workspace/x', os.O_WRONLY|os.O_CREAT, 0o755); os.write(f, b'#!/bin/sh\\nexit 4\\n'); os._exit(0)", true)
	in.Close()
	if exit, err := pr.Wait(); err != nil || exit.Code != 0 || attendanceOf(pr) == nil {
		t.Fatalf("%+v, %v", exit, err)
	}
	r, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/workspace/x"}}) // ETXTBSY while somebody may write to it
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := r.Wait(); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// However the attendance of a process ends, its container can be deleted.
func TestAttendTheDead(t *testing.T) {
	rt := opened(t)
	for name, end := range map[string]func(t *testing.T, pr *process){
		"killed":                func(t *testing.T, pr *process) { pr.Kill(); pr.Wait() },
		"deleted":               func(*testing.T, *process) {},
		"without an attendant":  func(t *testing.T, pr *process) { _ = rt.attendant.init.Kill() },
		"that nobody waits for": func(t *testing.T, pr *process) { unix.Kill(attendanceOf(pr).pid, unix.SIGTERM) },
		"attended when it ended": func(t *testing.T, pr *process) {
			pr.Kill()
			pr.Wait()
			pr.Attend()
			if attendanceOf(pr) != nil {
				t.Error("the dead is attended")
			}
		},
		"let go": func(t *testing.T, pr *process) {
			at := attendanceOf(pr)
			if twice := rt.attendant.attend(&rt.recovery, at.pid); twice != nil {
				t.Error("it is traced twice")
			}
			at.letGo()
			if exit, err := at.child.Exit(); err != nil || exit.Stage != spawn.StageLetGo {
				t.Errorf("%+v, %v", exit, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := created(t, rt, sandbox.LevelFull)
			pr, in, _ := waitsIn(t, c, "", true)
			defer in.Close()
			end(t, pr)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			deleted := make(chan error, 1)
			go func() { deleted <- c.Delete(ctx) }()
			select {
			case err := <-deleted:
				if err != nil {
					t.Error(err)
				}
			case <-ctx.Done():
				t.Fatal("its container is not deleted")
			}
		})
	}
}

// What waits for a command is attended, and so is what it becomes. However it goes away, the container can be
// deleted, and nobody attends it any more.
func TestAttendWhatIsExpected(t *testing.T) {
	rt := opened(t)
	limits := sandbox.Limits{MemoryBytes: 64 << 20, Processes: 8, CPUs: 1}
	for name, test := range map[string]struct {
		args  []string // nothing starts without
		tty   bool
		exit  int
		spare bool // its end is known before it is gone
	}{
		"ends":           {args: []string{"/bin/sh", "-c", "exit 7"}, exit: 7, spare: true},
		"executes":       {args: []string{"/bin/sh", "-c", "exec /bin/true"}, spare: true},
		"is killed":      {args: []string{"/bin/sh", "-c", "kill -9 $$"}, exit: 128 + 9},
		"leaves a child": {args: []string{"/bin/sh", "-c", "sleep 1000 & exit 3"}, exit: 3},
		"does not fit":   {args: []string{"/bin/sh", "-c", "exit 5"}, tty: true, exit: 5},
		"never comes":    {},
	} {
		t.Run(name, func(t *testing.T) {
			c := created(t, rt, sandbox.LevelFull)
			if err := c.Expect(t.Context(), sandbox.Process{Limits: limits}); err != nil {
				t.Fatal(err)
			}
			expected := c.expected
			if !expected.group.held.processes || !expected.group.held.memory || os.Geteuid() != 0 {
				t.Skip("nobody attends here")
			}
			at := attendanceOf(expected)
			if at == nil {
				t.Fatal("it is not attended")
			}
			if test.args != nil {
				p := sandbox.Process{Args: test.args, Stdout: io.Discard, Stderr: io.Discard, Limits: limits}
				if test.tty {
					p.TTY, p.Stdin, p.Stderr = &sandbox.TTY{Rows: 20, Cols: 20}, strings.NewReader(""), nil
				}
				r, err := c.Start(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if became := r.(*process) == expected; became == test.tty {
					t.Errorf("it became the program: %v", became)
				}
				exit, err := r.Wait()
				if err != nil || exit.Code != test.exit {
					t.Errorf("%+v, %v", exit, err)
				}
				if spare := attendanceOf(r.(*process)) != nil; spare != test.spare {
					t.Errorf("its end was known before it was gone: %v", spare)
				}
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
			select {
			case <-at.child.Over():
			case <-time.After(10 * time.Second):
				t.Error("it is attended still")
			}
		})
	}
}
