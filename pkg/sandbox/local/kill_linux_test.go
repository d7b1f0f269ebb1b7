package local

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// opened is a runtime that is closed when the test ends.
func opened(t testing.TB) *Runtime {
	t.Helper()
	return openedWith(t, Options{})
}

func openedWith(t testing.TB, options Options) *Runtime {
	t.Helper()
	options.RuntimeDir = t.TempDir()
	rt, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// created is a small container of a level, if this machine has that.
func created(t *testing.T, rt *Runtime, level sandbox.Level) *container {
	t.Helper()
	made, err := rt.Create(t.Context(), sandbox.Spec{Level: level, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.(*container)
}

// An init that does not answer holds up no kill: without namespaces a program of
// its own user could stop it.
func TestSilentInit(t *testing.T) {
	rt := opened(t)
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) {
			c := created(t, rt, level)
			running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Kill(c.init.PID, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := running.Kill(); err != nil {
				t.Error(err)
			}
			exit, err := running.Wait()
			if err != nil || exit.Signal != int(unix.SIGKILL) || exit.Code != 137 {
				t.Errorf("signal %d, %v", exit.Signal, err)
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the kernel does not tell who a process's children are, no program runs whose
// children could only be found that way.
func TestNobodyTellsChildren(t *testing.T) {
	rt := opened(t)
	rt.host.root, rt.host.childrenErr = false, errors.New("there is no such file")
	_, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelRestricted, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Errorf("a container without a way to end it: %v", err)
	}
}

// Programs with a user of their own do not outlive an init that was killed: nobody
// would be given that user while they run. Nor do those that have a control group.
func TestKilledInit(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.LevelRestricted, sandbox.LevelNone} {
		t.Run(string(level), func(t *testing.T) { killedInit(t, level) })
	}
}

func killedInit(t *testing.T, level sandbox.Level) {
	rt := opened(t)
	if own := level == sandbox.LevelRestricted && os.Geteuid() == 0; !own && !rt.host.has(cgroup.Memory) {
		t.Skip("neither a user of its own nor a control group")
	}
	c := created(t, rt, level)
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	program, err := unix.PidfdOpen(running.(*process).pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(program)
	if err := unix.Kill(c.init.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, _ = running.Wait()                                             // which says that init is gone
	ended := []unix.PollFd{{Fd: int32(program), Events: unix.POLLIN}} // what was killed has a moment to die
	if n, err := unix.Poll(ended, 10_000); n != 1 {
		t.Errorf("the program is alive: %v", err)
		_ = unix.PidfdSendSignal(program, unix.SIGKILL, nil, 0)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}

// A number that is not its process's any more is not signalled.
func TestSignalsReachTheProcessAlone(t *testing.T) {
	needRoot(t)
	rt := opened(t)
	c := created(t, rt, sandbox.LevelRestricted)
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	stranger := exec.Command("/bin/sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	late := &process{Ending: alive.NewEnding(), c: c, pid: stranger.Process.Pid}
	if err := late.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := errors.Join(running.Signal(unix.SIGTERM), c.Delete(t.Context())); err != nil {
		t.Error(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Signal != int(unix.SIGTERM) {
		t.Errorf("its own process: %+v, %v", exit, err)
	}
	_ = stranger.Process.Kill()
	if _ = stranger.Wait(); stranger.ProcessState.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("another one: %v", stranger.ProcessState)
	}
}
