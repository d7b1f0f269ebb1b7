package oci_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

func open(t *testing.T, dir string) *oci.Runtime {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	if _, err := exec.LookPath("crun"); err != nil {
		t.Skip("crun is not installed")
	}
	rt, err := oci.New(oci.Options{Program: "crun", RuntimeDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

var spec = sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}}

// traces are what containers of ours have left on this machine, by the name of
// their instance.
func traces(t *testing.T, name string) (found []string) {
	t.Helper()
	for _, pattern := range []string{os.TempDir() + "/sandbox-run-", "/sys/fs/cgroup/sandbox-run-", "/sys/fs/cgroup/*/sandbox-run-"} {
		matches, err := filepath.Glob(pattern + name + "*")
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, matches...)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, name) {
			found = append(found, line)
		}
	}
	return found
}

func instanceOf(id string) string { return id[:strings.LastIndex(id, "-")] }

func TestNothingIsLeft(t *testing.T) {
	rt := open(t, t.TempDir())
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	name := instanceOf(c.ID())
	if len(traces(t, name)) == 0 {
		t.Error("a container that is alive leaves no trace: the test looks at the wrong places")
	}
	if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}}); err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if found := traces(t, name); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
}

// TestFailuresLeaveNothing: an OCI runtime that fails.
func TestFailuresLeaveNothing(t *testing.T) {
	open(t, t.TempDir()).Close() // or there is none
	dir := t.TempDir()
	program, fails := filepath.Join(dir, "crun"), filepath.Join(dir, "fails")
	script := "#!/bin/sh\n[ ! -e " + fails + " ] || set -- --cgroup-manager=no-such \"$@\"\nexec crun \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	name := instanceOf(c.ID())
	if err := os.WriteFile(fails, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.Create(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), "crun: ") {
		t.Errorf("error %v, want crun's own words", err)
	}
	if _, err := rt.Create(t.Context(), sandbox.Spec{Disk: spec.Disk, Mounts: []sandbox.Mount{{Source: "/no/such/dir"}}}); err == nil {
		t.Error("a directory that does not exist was mounted")
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	for _, trace := range traces(t, name+"-") {
		t.Errorf("left while the runtime lives: %s", trace)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if found := traces(t, name); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
}

// TestKilledParentIsReclaimed runs itself as a process that is killed.
func TestKilledParentIsReclaimed(t *testing.T) {
	const variable = "SANDBOX_TEST_OCI_DIR"
	if dir := os.Getenv(variable); dir != "" {
		c, err := open(t, dir).Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}}); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(c.ID() + "\n")
		select {}
	}
	dir := t.TempDir()
	open(t, dir).Close()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledParentIsReclaimed$")
	child.Env = append(os.Environ(), variable+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, _ := out.Read(buf)
	id := strings.TrimSpace(string(buf[:n]))
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if !strings.Contains(id, "-") {
		t.Fatalf("the child says %q", id)
	}
	name := instanceOf(id)
	if len(traces(t, name)) == 0 {
		t.Error("the killed process left no trace: the test looks at the wrong places")
	}
	removed, err := oci.Reclaim(oci.Options{Program: "crun", RuntimeDir: dir})
	if err != nil || len(removed) == 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
	if found := traces(t, name); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
	for deadline := time.Now().Add(20 * time.Second); processes(t, id); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process of the container is alive")
		}
	}
}

// processes tells whether any process has the container's name in its command line
// or its control group.
func processes(t *testing.T, id string) bool {
	t.Helper()
	for _, kind := range []string{"cmdline", "cgroup"} {
		files, err := filepath.Glob("/proc/[0-9]*/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if content, err := os.ReadFile(f); err == nil && strings.Contains(string(content), id) {
				return true
			}
		}
	}
	return false
}

// hanging is an OCI runtime that never gets further, whatever it is told; its children
// do not either, and outlive it.
func hanging(t *testing.T) (program string, alive func() []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	program = filepath.Join(t.TempDir(), "hanging")
	script := `#!/bin/sh
trap '' TERM INT HUP
case "$*" in
*--child) ;;
*" run "*) "$0" "$@" --child & touch "$0".ran ;;
*) exit 1 ;;
esac
while :; do sleep 0.2; done
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, func() (found []string) {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range lines {
			if line, _ := os.ReadFile(name); strings.Contains(string(line), program+"\x00") {
				found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		return found
	}
}

// cancelled has a runtime make a container until its program has been told to, and calls that off.
func cancelled(t *testing.T, rt *oci.Runtime, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(program + ".ran"); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if c, err := rt.Create(ctx, spec); err == nil {
		t.Errorf("made %v", c.ID())
	} else if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("its program was not told to make anything: %v", err)
	}
}

// A runtime that hangs is ended with whoever waits for it, and all that it has started.
func TestHangingRuntime(t *testing.T) {
	program, alive := hanging(t)
	rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	cancelled(t, rt, program)
	if left := alive(); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
}

// runtimeOf is an OCI runtime that is a script of the shell.
func runtimeOf(t *testing.T, script string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	program := filepath.Join(t.TempDir(), "myrun")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// What a runtime has started is ended with it, also where its command lines say nothing
// of the container, and what it leaves behind of a short answer keeps nobody waiting.
func TestNamelessRuntime(t *testing.T) {
	const unlike = "98765.4321"
	program := runtimeOf(t, `case "$*" in
*" run "*) sleep `+unlike+` & touch "$0".ran; exec sleep `+unlike+` ;;
*) sleep 1000 & echo $! >>"$0".pids ;;
esac`)
	t.Cleanup(func() {
		pids, _ := os.ReadFile(program + ".pids")
		for _, pid := range strings.Fields(string(pids)) {
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	})
	rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancelled(t, rt, program)
	if processes(t, unlike) {
		t.Error("a process of the runtime is still there")
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

// TestUselessRuntime: whatever a runtime says and does not do, there is an error that
// names it, and nothing is left.
func TestUselessRuntime(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"ends":      {"exit 0", "myrun: "},
		"complains": {`echo "it is too late" >&2; exit 1`, "myrun: it is too late"},
		"babbles":   {`[ "$1" = --version ] || exec yes`, "myrun: "},
		"is noise":  {`[ "$1" = --version ] || exec cat /dev/urandom`, "myrun: "},
		"is gone":   {"", "start myrun: execve"},
	} {
		t.Run(name, func(t *testing.T) {
			program := runtimeOf(t, c.script)
			dir := t.TempDir()
			rt, err := oci.New(oci.Options{Program: program, RuntimeDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if c.script == "" {
				os.Remove(program)
			}
			before, _ := os.ReadDir(dir)
			_, err = rt.Create(t.Context(), spec)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("error %q, want %q", err, c.want)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) >= max(len(before), 1) {
				t.Errorf("left %v", left)
			}
		})
	}
}

// What hangs, and whose owner was killed, is ended by the next one, which may drive
// another runtime.
func TestHangingRuntimeOfADeadOwner(t *testing.T) {
	if program := os.Getenv("OCI_TEST_HANGING"); program != "" {
		rt, err := oci.New(oci.Options{Program: program, RuntimeDir: os.Getenv("OCI_TEST_DIR")})
		if err == nil {
			_, err = rt.Create(t.Context(), spec)
		}
		t.Fatalf("went on: %v", err)
	}
	program, alive := hanging(t)
	dir := t.TempDir()
	owner := exec.Command(os.Args[0], "-test.run=^TestHangingRuntimeOfADeadOwner$")
	owner.Env = append(os.Environ(), "OCI_TEST_HANGING="+program, "OCI_TEST_DIR="+dir)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(alive()) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it was not started")
		}
	}
	_ = owner.Process.Kill()
	_ = owner.Wait()
	if _, err := oci.Reclaim(oci.Options{Program: "crun", RuntimeDir: dir}); err != nil {
		t.Error(err)
	}
	if left := alive(); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
}
