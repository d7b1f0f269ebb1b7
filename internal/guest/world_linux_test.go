package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// The tests run this test's binary again: in namespaces of its own it makes what
// an engine makes, a root and its file systems, and becomes init there.

// worldEnv has the directory below which the helper makes a root.
// groupEnv has a control group that it enters before.
const (
	worldEnv = "GUEST_TEST_WORLD"
	groupEnv = "GUEST_TEST_GROUP"
)

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(worldEnv); ok {
		fmt.Fprintln(os.Stderr, enterWorld(dir))
		os.Exit(99)
	}
	os.Exit(m.Run())
}

// The file systems of the world that programs write: of ample room, and of little.
const (
	smallDir    = "/small"
	smallBytes  = 1 << 20
	smallInodes = 32
)

// enterWorld makes a root below dir and becomes init in it, with no capability. It
// returns only when it fails.
func enterWorld(dir string) error {
	runtime.LockOSThread() // capabilities are a thread's
	mount := func(source, target, kind string, flags uintptr, data string) error {
		if err := unix.Mount(source, filepath.Join(dir, target), kind, flags, data); err != nil {
			return fmt.Errorf("mount %s at /%s: %w", source, target, err)
		}
		return nil
	}
	errs := []error{mount("tmpfs", "", "tmpfs", 0, "mode=755")}
	if group := os.Getenv(groupEnv); group != "" {
		errs = append(errs, os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0))
	}
	for _, name := range []string{"dev", "proc", "workspace", "build", "small"} {
		errs = append(errs, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	errs = append(errs,
		os.WriteFile(filepath.Join(dir, "init"), spawn.InitProgram(), 0o755),
		mount("/dev", "dev", "", unix.MS_BIND|unix.MS_REC, ""),
		mount("proc", "proc", "proc", 0, ""),
		mount("tmpfs", "workspace", "tmpfs", 0, "mode=755,size=64m"),
		mount("tmpfs", "build", "tmpfs", 0, "mode=755,size=64m"),
		mount("tmpfs", "small", "tmpfs", 0, fmt.Sprintf("mode=755,size=%d,nr_inodes=%d", smallBytes, smallInodes)),
	)
	for _, name := range []string{"usr", "bin", "lib", "lib64"} {
		target := filepath.Join(dir, name)
		if link, err := os.Readlink("/" + name); err == nil {
			errs = append(errs, os.Symlink(link, target))
		} else if _, err := os.Stat("/" + name); err == nil {
			errs = append(errs, os.Mkdir(target, 0o755), mount("/"+name, name, "", unix.MS_BIND|unix.MS_REC, ""))
		}
	}
	errs = append(errs, unix.Chroot(dir), unix.Chdir("/"), unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return unix.Exec("/init", spawn.StreamArgs, nil)
}

// world is a container with the real init.
type world struct {
	*Container
	t    testing.TB
	init *exec.Cmd
}

// start makes a world. It is that of an ordinary user without any capability, as
// in every engine, whoever runs the test: namespaces of a user make the rest.
func start(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{worldEnv + "=" + t.TempDir(), groupEnv + "=" + os.Getenv(groupEnv)}
	cmd.SysProcAttr = &unix.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: sandbox.UserID, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: sandbox.UserID, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT},
	}
	var words bytes.Buffer
	cmd.Stderr = &words
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no namespaces can be made here: %v", err)
	}
	opts := Options{
		ID: "test", Arch: runtime.GOARCH, Trees: []string{sandbox.WorkspaceDir, sandbox.BuildDir, smallDir},
		Remove: func(context.Context) error { _ = cmd.Wait(); return nil }, // killed by some of the tests
	}
	for _, f := range change {
		f(&opts)
	}
	c, err := New(pipes{stdin, stdout}, opts)
	if err != nil {
		_ = cmd.Wait()
		if words.Len() > 0 {
			t.Skipf("no container can be made here: %s", words.String())
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background()); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
	w := &world{c, t, cmd}
	if _, err := os.Stat(w.host(smallDir)); err != nil { // or tests would write to the host's root
		t.Fatalf("init is not in its world: %v", err)
	}
	return w
}

type pipes struct {
	io.WriteCloser
	out io.ReadCloser
}

func (p pipes) Read(b []byte) (int, error) { return p.out.Read(b) }
func (p pipes) Close() error               { return errors.Join(p.WriteCloser.Close(), p.out.Close()) }

// host is where the host sees a path of the world.
func (w *world) host(name string) string {
	return filepath.Join("/proc", strconv.Itoa(w.init.Process.Pid), "root", name)
}

// tree is a file tree, and where the host sees it.
func (w *world) tree(dir string) (*fileTree, string) {
	w.t.Helper()
	tree, err := w.Files(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree.(*fileTree), w.host(dir)
}

// shell is a program that most tests run.
func shell(script string) sandbox.Process {
	return sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}}
}

type ended struct {
	stdout, stderr string
	sandbox.Exit
}

// run runs a process to its end.
func (w *world) run(p sandbox.Process) ended {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	p.Stdout, p.Stderr = &stdout, &stderr
	exit, err := w.start(p).Wait()
	if err != nil {
		w.t.Fatal(err)
	}
	return ended{stdout.String(), stderr.String(), exit}
}

func (w *world) sh(script string) ended {
	w.t.Helper()
	return w.run(shell(script))
}

func (w *world) start(p sandbox.Process) sandbox.Running {
	w.t.Helper()
	running, err := w.Start(context.Background(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	return running
}

// line starts a process and waits for the first line that it writes.
func (w *world) line(p sandbox.Process) (sandbox.Running, string) {
	w.t.Helper()
	out := &lines{first: make(chan string, 1)}
	p.Stdout = out
	running := w.start(p)
	return running, <-out.first
}

// lines tells the first line that is written.
type lines struct {
	text  []byte
	first chan string
}

func (l *lines) Write(b []byte) (int, error) {
	known := bytes.Contains(l.text, []byte("\n"))
	l.text = append(l.text, b...)
	if line, _, ok := strings.Cut(string(l.text), "\n"); ok && !known {
		l.first <- line
	}
	return len(b), nil
}

// TestWorld: init is what an engine starts, a user's process with no capability.
func TestWorld(t *testing.T) {
	got := start(t).sh("id -u; grep -E 'Cap(Eff|Prm|Amb)|NoNewPrivs|Seccomp:' /proc/self/status; pwd; echo $$")
	for _, want := range []string{"1000\n", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", sandbox.WorkspaceDir} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q does not say %q", got.stdout, want)
		}
	}
}
