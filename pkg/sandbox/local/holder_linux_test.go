package local

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/hold"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// findsHolder finds, in the programs of the test, who holds their memory, if somebody does.
const findsHolder = `
import os, signal, sys, time
calls = []
signal.signal(signal.SIGUSR1, lambda *_: calls.append(1))
os.write(1, b"waits")
os.read(0, 1)
def holders():
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())]
def ended(pid):
    for _ in range(1000):
        try:
            if open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False
def linger():
    if not os.fork():
        os.setsid()
        time.sleep(1000)
`

// A program that is held, and what it does, is as one that is not: its end, its output, what it can
// count. What it leaves behind is dead when it has ended, whatever it has done to who holds it.
func TestHoldMemory(t *testing.T) {
	rt := opened(t)
	for name, program := range map[string]struct {
		code  string
		exit  int  // its code
		other bool // it has dealt with who holds it, or left something, and is looked after as any is
	}{
		"ends":           {code: `b = bytearray(b"x") * (40 << 20); os._exit(7)`, exit: 7},
		"is killed":      {code: `os.kill(os.getpid(), 9)`, exit: 128 + 9},
		"executes":       {code: `os.execv("/bin/echo", ["echo", "another"])`},
		"has children":   {code: `print(os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0)[1])`},
		"has no others":  {code: `print(open(f"/proc/self/task/{os.getpid()}/children").read())`},
		"has none":       {code: "try: print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError as e: print(e)"},
		"counts":         {code: "n = 0\ntry:\n  while os.fork(): n += 1\n  time.sleep(1000)\nexcept OSError as e: print(n, e)", other: true},
		"leaves a child": {code: `linger()`, other: true},
		"ends it":        {code: `[os.kill(p, 9) for p in holders()]; linger()`, other: true},
		"has it go on":   {code: "for p in holders(): os.kill(p, signal.SIGCONT); print('' if ended(p) else 'it goes on', end='')"},
		"signals all":    {code: `signal.signal(signal.SIGTERM, signal.SIG_IGN); os.killpg(0, signal.SIGTERM)`},
		"is interrupted": {code: `os.killpg(0, signal.SIGUSR1); os.killpg(0, signal.SIGCONT); print(all(map(ended, holders())), calls)`},
		"has mapped":     {code: "import mmap\nos.chdir('/workspace')\nwith open('x', 'w+b') as f:\n  os.ftruncate(f.fileno(), 900 << 10)\n  m = mmap.mmap(f.fileno(), 0)\nos.unlink('x')\nm[:] = b'x' * len(m)\nos._exit(0)", other: true},
		"finds files":    {code: `print([os.listdir(f"/proc/{p}/fd") for p in holders() if os.listdir(f"/proc/{p}/fd")])`},
		"has threads":    {code: "import _thread\n[_thread.start_new_thread(time.sleep, (1000,)) for _ in range(3)]; time.sleep(0.05); os._exit(3)", exit: 3},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(held bool) (string, sandbox.Exit) {
				c := created(t, rt, sandbox.LevelFull)
				defer c.Delete(t.Context())
				from, in := io.Pipe()
				out, errs := &heard{first: make(chan struct{})}, &strings.Builder{}
				r, err := c.Start(t.Context(), sandbox.Process{Args: []string{pythonPath, "-S", "-c", findsHolder + program.code}, Stdin: from, Stdout: out, Stderr: errs,
					Limits: sandbox.Limits{MemoryBytes: 128 << 20, Processes: 6, CPUs: 1}})
				if err != nil {
					t.Fatal(err)
				}
				<-out.first
				pr := r.(*process)
				if held {
					holds(t, pr)
				}
				in.Write([]byte("x"))
				in.Close()
				exit, err := r.Wait()
				if err != nil || exit.Code != program.exit || errs.Len() > 0 {
					t.Fatalf("%+v, %v: %s", exit, err, errs)
				}
				if program.other && !c.init.Idle() {
					t.Error("something has outlived it")
				}
				return out.String(), exit
			}
			out, exit := run(false)
			heldOut, heldExit := run(true)
			for tries := 0; name == "ends" && *heldExit.Metrics.MemoryBytes < 20<<20 && tries < 20; tries++ {
				heldOut, heldExit = run(true) // who reads its figures may come late
			}
			if heldOut != out {
				t.Errorf("held it says %q, and else %q", heldOut, out)
			}
			if was, is := exit.Metrics.ProcessesPeak, heldExit.Metrics.ProcessesPeak; was != nil && *is > *was { // there init was one of them
				t.Errorf("held it has had %d processes, and else no more than %d", *is, *was)
			}
			if was, is := exit.Disk.BytesUsed, heldExit.Disk.BytesUsed; is != was {
				t.Errorf("held it has %d bytes on its disk, and else %d", is, was)
			}
			if name == "ends" && (*exit.Metrics.MemoryBytes > 20<<20 || *heldExit.Metrics.MemoryBytes < 20<<20) {
				t.Errorf("when it has ended it has %d bytes of memory, and held %d", *exit.Metrics.MemoryBytes, *heldExit.Metrics.MemoryBytes)
			}
		})
	}
}

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

// holds has the memory of a process held, or skips the test where that cannot be.
func holds(t *testing.T, pr *process) {
	t.Helper()
	if err := pr.HoldMemory(); err != nil {
		t.Fatal(err)
	}
	if pr.holder.pidfd == nil {
		if hold.Supported && pr.c.rt.host.root && pr.group.held.processes {
			t.Error("nobody holds its memory")
		}
		t.Skip("here nobody may be traced, or nobody counts processes")
	}
}

// Who is killed while its memory is to be held, or before, holds nothing up.
func TestHoldMemoryOfTheDead(t *testing.T) {
	rt := opened(t)
	before, err := descendants(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, kill := range map[string]func(*process){
		"before":    func(pr *process) { _ = pr.Kill(); <-pr.Done() },
		"meanwhile": func(pr *process) { go pr.Kill() },
		"alone":     func(pr *process) { go pr.Signal(unix.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				c := created(t, rt, sandbox.LevelFull)
				from, in := io.Pipe()
				r, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/cat"}, Stdin: from, Stdout: io.Discard, Stderr: io.Discard, Limits: sandbox.Limits{Processes: 6}})
				if err != nil {
					t.Fatal(err)
				}
				pr := r.(*process)
				kill(pr)
				_ = pr.HoldMemory()
				_ = pr.Kill()
				in.Close()
				if exit, err := r.Wait(); err != nil || exit.Signal == 0 {
					t.Errorf("%+v, %v", exit, err)
				}
				if err := c.Delete(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := pr.holder.pidfd.Stat(); err == nil {
					t.Error("the descriptor of a holder stays open")
				}
			}
		})
	}
	if left, err := descendants(os.Getpid()); err != nil || len(left) > len(before) {
		t.Errorf("there are still %v, where %v were before, %v", left, before, err)
	}
}
