package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// interpreter looks around itself, once it has become what it is.
const interpreter = `
import os, sys
if %s:
    import _imp
    try:
        _imp.create_dynamic(type(sys.__spec__)("ancestor", None, origin="/workspace/ancestor.so"))
    except ImportError:
        pass
told = sys.stdin.read()
if told == "hoard":
    bytearray(200 << 20)
if told == "breed":
    import time
    for n in range(100):
        try:
            if not os.fork():
                time.sleep(60)
        except OSError:
            print(n)
            sys.exit()
print(told, os.getpid() < 5, os.getppid(), os.getuid(), os.getgid(), os.getgroups(), os.getcwd(), os.getsid(0) == os.getpid(), os.environ)
print([os.readlink("/proc/self/fd/%%d" %% fd).rstrip("0123456789]") for fd in range(3)], [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2 and os.path.exists("/proc/self/fd/" + fd)])
keys = "Umask NSpid Uid Gid Groups Threads NoNewPrivs Seccomp Seccomp_filters SigBlk SigIgn SigCgt SigPnd ShdPnd Kthread TracerPid".split()
for line in open("/proc/self/status"):
    key = line.partition(":")[0]
    if key in keys and key != "NSpid" or key.startswith("Cap"):
        print(line.strip())
for name in "limits", "oom_score_adj", "cgroup", "timerslack_ns", "coredump_filter", "cmdline", "environ", "setgroups", "net/dev", "personality", "loginuid":
    try:
        print(name, open("/proc/self/" + name).read())
    except OSError as e:
        print(name, e)
for line in open("/proc/self/mountinfo"):
    print(line.split()[4:6])
for line in open("/proc/self/uid_map"), open("/proc/self/gid_map"):
    print([map.split()[0::2] for map in line])
for name in sorted(os.listdir("/proc/self/ns")):
    print(name, os.readlink("/proc/self/ns/" + name) == os.readlink("/proc/1/ns/" + name) if os.access("/proc/1/ns/" + name, os.R_OK) else "")
for name in "exe", "root", "cwd":
    print(os.readlink("/proc/self/" + name))
def attempt(call, *args):
    try:
        return call(*args)
    except OSError as e:
        return e.errno
for call, *args in (os.setuid, 0), (os.chroot, "/"), (open, "/usr/x", "w"), (open, "/proc/kcore"), (os.kill, 1, 0), (os.listdir, "/root"), (os.sethostname if hasattr(os, "sethostname") else os.nice, -1), (open, "/proc/self/mem", "rb"), (os.listdir, "/proc/1/fd"):
    print(call, type(attempt(call, *args)), attempt(call, *args) if call is not open else "")
print(os.stat("/proc/self").st_uid, os.stat("/proc/self/environ").st_uid, os.uname()[1], sorted(os.listdir("/dev")), sorted(os.listdir("/workspace")))
child = os.fork()
if not child:
    os._exit(3)
print(os.waitpid(child, 0)[1])
import threading
thread = threading.Thread(target=print, args=("thread", threading.main_thread().native_id == os.getpid()))
thread.start()
thread.join()
sys.exit(7)
`

const pythonPath = "/usr/bin/python3"

func interprets(ancestor bool) sandbox.Process {
	is := "False"
	if ancestor {
		is = "True "
	}
	return sandbox.Process{
		Args: []string{pythonPath, "-S", "-c", strings.ReplaceAll(strings.Replace(interpreter, "%s", is, 1), "%%", "%")},
		Env:  []string{"A=b", "PATH=/usr/bin:/bin"}, Dir: "/tmp",
		Limits: sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1, OpenFiles: 100},
	}
}

func smallOf(t *testing.T, rt *Runtime, tenant string) *container {
	t.Helper()
	c, err := rt.Create(t.Context(), sandbox.Spec{Tenant: tenant, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return c.(*container)
}

// ancestorOf starts one, or skips where there can be none.
func ancestorOf(t *testing.T, rt *Runtime, tenant string) sandbox.Ancestor {
	t.Helper()
	a, err := asAncestor(t, rt, tenant, interprets(true))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What an ancestor has forked is in nothing another process than one that was started, but for
// what it takes from its ancestor.
func TestDescendantLooksTheSame(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one")
	look := func(start func(c *container, p sandbox.Process) (sandbox.Running, error)) string {
		c := smallOf(t, rt, "one")
		var out, errs strings.Builder
		p := interprets(false)
		p.Stdin, p.Stdout, p.Stderr = strings.NewReader("in"), &out, &errs
		r, err := start(c, p)
		if err != nil {
			t.Fatal(err)
		}
		exit, err := r.Wait()
		if err != nil || exit.Code != 7 || errs.Len() > 0 || exit.Metrics.CPUUser == nil || exit.Metrics.MemoryPeakBytes == nil || *exit.Metrics.MemoryPeakBytes == 0 {
			t.Errorf("%+v, %v, %s", exit, err, errs.String())
		}
		if !c.init.Idle() {
			t.Error("something is left")
		}
		return strings.ReplaceAll(out.String(), "if True :", "if False:") // of the command line
	}
	want := look(func(c *container, p sandbox.Process) (sandbox.Running, error) { return c.Start(t.Context(), p) })
	for range 3 {
		got := look(func(c *container, p sandbox.Process) (sandbox.Running, error) { return a.Start(t.Context(), c, p) })
		if got != want || len(got) < 1000 {
			t.Errorf("started, and + forked:\n%s", cmp.Diff(want, got))
		}
	}
}

// An ancestor forks one child while those before it are on their way, each into the groups and
// the container that are its own.
func TestDescendantsAtOnce(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one")
	var all sync.WaitGroup
	for range 12 {
		c := smallOf(t, rt, "one")
		all.Go(func() {
			var out strings.Builder
			p := interprets(false)
			p.Stdin, p.Stdout, p.Stderr = strings.NewReader(c.id), &out, io.Discard
			r, err := a.Start(t.Context(), c, p)
			if err != nil {
				t.Error(err)
				return
			}
			exit, err := r.Wait()
			if err != nil || exit.Code != 7 || !strings.HasPrefix(out.String(), c.id+" True 1 ") {
				t.Errorf("%+v, %v, %s", exit, err, out.String())
			}
			if peak := exit.Metrics.ProcessesPeak; peak != nil && *peak > 2 {
				t.Errorf("%d processes at a time, of its own 2", *peak)
			}
		})
	}
	all.Wait()
}

// While one child is slow on its way, another comes back.
func TestDescendantsDoNotWaitForEachOther(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one").(*ancestor)
	if !a.group.held.cpu {
		t.Skip("the control groups here do not slow a process down")
	}
	begin := func(c *container, cpus float64) chan error {
		done := make(chan error, 1)
		p := interprets(false)
		p.Stdin, p.Stdout, p.Stderr, p.Limits.CPUs = strings.NewReader(""), io.Discard, io.Discard, cpus
		go func() {
			r, err := a.Start(t.Context(), c, p)
			if err == nil {
				_, err = r.Wait()
			}
			done <- err
		}()
		return done
	}
	all := writable(t, a.pid)
	busy := make([]span, 0, 1500)
	for len(busy) < cap(busy) {
		busy = append(busy, all[len(busy)%len(all)])
	}
	a.foreseen.Store(&busy)
	c := smallOf(t, rt, "one")
	slow := begin(c, 0.02)
	for !signalChild(c, unix.SIGSTOP) { // on a busy machine even the slow are quicker than others
		select {
		case err := <-slow:
			t.Fatalf("the slow one was not slow: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	a.foreseen.Store(nil)
	if err := <-begin(smallOf(t, rt, "one"), 1); err != nil {
		t.Error(err)
	}
	if len(a.onWay) == 0 {
		t.Error("the slow one is no longer on its way")
	}
	signalChild(c, unix.SIGCONT)
	<-slow
}

// signalChild sends a signal to the child of a container's init, and tells whether it has one.
func signalChild(c *container, signal unix.Signal) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", c.init.PID))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && unix.Kill(pid, signal) == nil
}

// A descendant is held to its limits, and not to its ancestor's.
func TestDescendantAndItsLimits(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one")
	if held := a.(*ancestor).group.held; !held.memory || !held.processes {
		t.Skip("the control groups here hold neither memory nor processes")
	}
	for told, right := range map[string]func(exit sandbox.Exit, out string) bool{
		"hoard": func(exit sandbox.Exit, _ string) bool { return exit.OOMKills > 0 && exit.Signal == int(unix.SIGKILL) },
		"breed": func(exit sandbox.Exit, out string) bool { return out == "19\n" && exit.ProcessDenials > 0 },
	} {
		var out strings.Builder
		p := interprets(false)
		p.Stdin, p.Stdout, p.Stderr = strings.NewReader(told), &out, io.Discard
		r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := r.Wait(); err != nil || !right(exit, out.String()) {
			t.Errorf("%s: %+v, %v, %q", told, exit, err, out.String())
		}
	}
}

// A descendant is one tenant's, and outlives its ancestor.
func TestDescendantAndItsAncestor(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one")
	c := smallOf(t, rt, "one")
	var out strings.Builder
	in, write := io.Pipe()
	p := interprets(false)
	p.Stdin, p.Stdout, p.Stderr = in, &out, io.Discard
	if _, err := a.Start(t.Context(), smallOf(t, rt, "other"), p); err == nil {
		t.Error("it has a child that is another tenant's")
	}
	r, err := a.Start(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	write.Close()
	if exit, err := r.Wait(); err != nil || exit.Code != 7 {
		t.Errorf("%+v, %v, %s", exit, err, out.String())
	}
	if _, err := a.Start(t.Context(), smallOf(t, rt, "one"), p); err == nil {
		t.Error("an ancestor that has ended has a child")
	}
}

// A child that cannot be enclosed never goes on, and the step is named.
func TestDescendantThatFails(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one")
	p := interprets(false)
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), io.Discard, io.Discard
	p.Dir = "/no/such/place"
	if _, err := a.Start(t.Context(), smallOf(t, rt, "one"), p); !errors.Is(err, unix.ENOENT) {
		t.Errorf("error %v", err)
	}
	c := smallOf(t, rt, "one")
	p.Dir = "/tmp"
	r, err := a.Start(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := r.Wait(); err != nil || exit.Code != 7 {
		t.Errorf("after a child that failed: %+v, %v", exit, err)
	}
}

// Of a program that somebody else may change nothing is made that has capabilities.
func TestAncestorOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives a file away")
	}
	own := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(own, nil, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := roots(own); !errors.Is(err, sandbox.ErrNoAncestor) {
		t.Errorf("of one in a directory that is anybody's: %v", err)
	}
	if err := roots("/bin/sh"); err != nil {
		t.Error(err)
	}
	// What it runs when it starts is as much.
	code, err := os.MkdirTemp("/run", "sandbox-run-test") //nolint:usetesting // t.TempDir is below a directory of everybody's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(code) })
	module := filepath.Join(code, "module.py")
	if err := os.WriteFile(module, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := treeOfRoot(code); err != nil {
		t.Errorf("root's own: %v", err)
	}
	for name, change := range map[string]func() error{
		"a file of everybody's": func() error { return os.Chmod(module, 0o666) },
		"a link to a directory": func() error { return os.Symlink("/etc", filepath.Join(code, "package")) },
		"a link to nothing":     func() error { return os.Symlink("/nothing", filepath.Join(code, "nothing.py")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := treeOfRoot(code); !errors.Is(err, sandbox.ErrNoAncestor) {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(os.Chmod(module, 0o644), os.RemoveAll(filepath.Join(code, "package")), os.RemoveAll(filepath.Join(code, "nothing.py"))); err != nil {
			t.Fatal(err)
		}
	}
}
