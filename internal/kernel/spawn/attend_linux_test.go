package spawn_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// attended is a program of one server that another attends. It waits for a line.
type attended struct {
	parent, by *spawn.Server
	pid        int
	end, early *spawn.Child
	goOn       func()
	out        *os.File
}

func attend(t *testing.T, argv ...string) attended {
	t.Helper()
	in, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a := attended{parent: start(t), by: start(t), out: out, goOn: func() { ours.WriteString("x\n"); ours.Close() }}
	t.Cleanup(func() { ours.Close(); out.Close() })
	var p spawn.Program
	stdin, stdout := p.File(int(in.Fd())), p.File(int(theirs.Fd()))
	p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(unix.CLONE_VFORK | uintptr(unix.SIGCHLD))}, func() {
		p.Call("dup3", unix.SYS_DUP3, stdin, spawn.FD(0), spawn.Value(0))
		p.Call("dup3", unix.SYS_DUP3, stdout, spawn.FD(1), spawn.Value(0))
		p.UnblockSignals(unix.SYS_RT_SIGPROCMASK)
		p.Call("execve", unix.SYS_EXECVE, p.String(argv[0]), p.Strings(argv), p.Strings(nil))
	})
	reply, err := a.parent.Do(&p)
	in.Close()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	a.pid, a.end = reply.PID, a.parent.Child(reply.PID)
	var q spawn.Program
	q.Attend(a.pid)
	_, err = a.by.Do(&q)
	if errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
		a.goOn()
		t.Skip("only root may trace who is not its own child here (kernel.yama.ptrace_scope)")
	}
	if err != nil {
		t.Fatal(err)
	}
	a.early = a.by.Child(a.pid)
	return a
}

// field is one of /proc/PID/status.
func (a attended) field(t *testing.T, name string) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\n"+name+":\t")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// ends checks what both servers tell of the end.
func (a attended) ends(t *testing.T, stage spawn.Stage, status spawn.WaitStatus) {
	t.Helper()
	early, err := a.early.Exit()
	if err != nil || early.Stage != stage {
		t.Fatalf("who attends it says %+v, %v", early, err)
	}
	if stage == spawn.StageHeld {
		if early.Status != status || early.Usage.MaxRSSBytes == 0 {
			t.Errorf("it is held and ends with %#x, %+v; want %#x", early.Status, early.Usage, status)
		}
		if state := a.field(t, "State"); !strings.HasPrefix(state, "t") {
			t.Errorf("it is held and its state is %s", state)
		}
		select {
		case <-a.end.Over():
			t.Error("it has ended, and is held")
		default:
		}
		a.release(t)
	}
	if exit, err := a.end.Exit(); err != nil || exit.Status != status {
		t.Errorf("its parent says %#x, %v; want %#x", exit.Status, err, status)
	}
}

func (a attended) release(t *testing.T) { t.Helper(); a.tell(t, (*spawn.Program).Release) }

func (a attended) unattend(t *testing.T) { t.Helper(); a.tell(t, (*spawn.Program).Unattend) }

// tell has who attends it do something with it.
func (a attended) tell(t *testing.T, what func(p *spawn.Program, pid int)) {
	t.Helper()
	var p spawn.Program
	what(&p, a.pid)
	if _, err := a.by.Do(&p); err != nil {
		t.Error(err)
	}
}

// What ends of itself is held at its end; what a signal ends is not, and neither is what gets one. All
// end as they would have.
func TestAttend(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		stage  spawn.Stage
		status spawn.WaitStatus
	}{
		"ends":              {"read x; exit 7", spawn.StageHeld, 7 << 8},
		"executes":          {"read x; exec /bin/sh -c 'exit 3'", spawn.StageHeld, 3 << 8},
		"kills itself":      {"read x; kill -9 $$", spawn.StageLetGo, 9},
		"is terminated":     {"read x; kill $$; sleep 100", spawn.StageLetGo, 15},
		"handles a signal":  {"trap 'exit 5' USR1; read x; kill -USR1 $$; exit 6", spawn.StageLetGo, 5 << 8},
		"ignores a signal":  {"trap '' USR1; read x; kill -USR1 $$; exit 6", spawn.StageLetGo, 6 << 8},
		"has a child":       {"read x; /bin/true; exit 4", spawn.StageLetGo, 4 << 8}, // SIGCHLD
		"is stopped":        {"read x; (until grep -q 'State:.T' /proc/$$/status; do :; done; kill -CONT $$) & kill -STOP $$; wait; exit 2", spawn.StageLetGo, 2 << 8},
		"leaves a child":    {"read x; sleep 0.01 & exit 1", spawn.StageHeld, 1 << 8},
		"writes at its end": {"read x; echo x", spawn.StageHeld, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attend(t, "/bin/sh", "-c", tc.script)
			if tracer := a.field(t, "TracerPid"); tracer == "0" {
				t.Error("nobody traces it")
			}
			a.goOn()
			a.ends(t, tc.stage, tc.status)
		})
	}
}

// A program whose attendant ends is let go by the kernel, from its end, too.
func TestAttendantsEnd(t *testing.T) {
	for name, held := range map[string]bool{"before": false, "while it is held": true} {
		t.Run(name, func(t *testing.T) {
			a := attend(t, "/bin/sh", "-c", "read x; exit 7")
			if held {
				a.goOn()
				if exit, err := a.early.Exit(); err != nil || exit.Stage != spawn.StageHeld {
					t.Fatalf("%+v, %v", exit, err)
				}
			}
			a.by.Close()
			if _, err := a.early.Exit(); !held && !errors.Is(err, spawn.ErrGone) {
				t.Error(err)
			}
			a.goOn()
			if exit, err := a.end.Exit(); err != nil || exit.Status != 7<<8 {
				t.Errorf("%+v, %v", exit, err)
			}
		})
	}
}

// What nobody is interested in any more goes on unattended.
func TestUnattend(t *testing.T) {
	a := attend(t, "/bin/sh", "-c", "read x; exit 7")
	a.unattend(t)
	if exit, err := a.early.Exit(); err != nil || exit.Stage != spawn.StageLetGo {
		t.Errorf("%+v, %v", exit, err)
	}
	if tracer := a.field(t, "TracerPid"); tracer != "0" {
		t.Errorf("%s traces it", tracer)
	}
	a.goOn()
	if exit, err := a.end.Exit(); err != nil || exit.Status != 7<<8 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A main thread that ends by itself is not held, since others go on, or execute another program in its place; nor
// is one longer than until that is known in whose place another does. Their parent tells how all ends.
func TestAttendThreads(t *testing.T) {
	const python = "/usr/bin/python3" // and no shim before it, which forks
	if _, err := os.Stat(python); err != nil {
		t.Skip("no Python, which has threads")
	}
	const begin = `
input()
import _thread, ctypes, os, time
x86 = os.uname().machine == "x86_64"
call = ctypes.CDLL(None).syscall
def leave(code): call(60 if x86 else 93, code)
def execute(code): os.execv("/bin/sh", ["sh", "-c", f"sleep 0.1; exit {code}"])
def later(do, *args): _thread.start_new_thread(lambda: (time.sleep(0.05), do(*args)), ())
`
	for name, tc := range map[string]struct {
		code   string
		status spawn.WaitStatus
		whole  bool // it may be held
	}{
		"others go on":               {"later(os._exit, 5); leave(3)", 5 << 8, false},
		"another executes behind it": {"later(execute, 6); leave(3)", 6 << 8, false},
		"another executes":           {"later(execute, 6); time.sleep(100)", 6 << 8, true},
		"another ends all":           {"later(os._exit, 8); time.sleep(100)", 8 << 8, true},
		"clones for the tracer":      {"pid = call(56 if x86 else 220, 0x2000 | 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0); os._exit(4)", 4 << 8, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attend(t, python, "-S", "-c", begin+tc.code)
			a.goOn()
			select {
			case <-a.early.Over():
				if early, err := a.early.Exit(); err != nil || early.Stage == spawn.StageEnded || early.Stage == spawn.StageHeld && !tc.whole {
					t.Errorf("%+v, %v", early, err)
				}
				a.release(t)
			case <-a.end.Over(): // who attends it was told nothing
			}
			if exit, err := a.end.Exit(); err != nil || exit.Status != tc.status {
				t.Errorf("its parent says %#x, %v; want %#x", exit.Status, err, tc.status)
			}
			a.unattend(t)
			if _, err := a.early.Exit(); err != nil {
				t.Error(err)
			}
		})
	}
}
