package oci_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

// grants says how many timers and inotify instances it gets, up to as many as it is told,
// and how many user namespaces it may make. It keeps them until its input ends.
const grants = `
import ctypes, sys
libc = ctypes.CDLL(None)
timer, most = ctypes.c_void_p(), int(sys.argv[1])
def take(make):
    n = 0
    while n < most and make() >= 0: n += 1
    return n
print(take(lambda: libc.timer_create(1, None, ctypes.byref(timer))), take(lambda: libc.inotify_init1(0)),
    *(open('/proc/sys/user/' + name).read().strip() for name in ('max_inotify_watches', 'max_user_namespaces')), flush=True)
sys.stdin.read()
`

// TestOwnGrants: what the kernel grants to a user, each container has for itself, and no
// container has what root has.
func TestOwnGrants(t *testing.T) {
	for _, program := range []string{"crun", "runc"} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
				t.Skipf("needs %s, and root", program)
			}
			rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			stdin, end := io.Pipe()
			defer end.Close()
			hog := granted(t, rt, "100000", stdin)
			if got, want := hog(), "1024 128 8192 0\n"; got != want {
				t.Errorf("who takes all has %q, want %q", got, want)
			}
			next := granted(t, rt, "50", bytes.NewReader(nil))
			if got, want := next(), "50 50 8192 0\n"; got != want {
				t.Errorf("beside who takes all there is %q, want %q", got, want)
			}
		})
	}
}

// granted starts a container that takes what it is granted, and gives what it says.
func granted(t *testing.T, rt *oci.Runtime, most string, stdin io.Reader) (said func() string) {
	t.Helper()
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(t.Context()) })
	lines, stdout := io.Pipe()
	var stderr bytes.Buffer
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: []string{"/usr/bin/python3", "-c", grants, most}, Env: []string{"LC_ALL=C.UTF-8"}, Limits: sandbox.Limits{OpenFiles: 1000},
		Stdin: stdin, Stdout: stdout, Stderr: &stderr,
	})
	if err != nil {
		t.Skipf("needs python3: %v", err)
	}
	go func() {
		_, _ = running.Wait()
		stdout.Close()
	}()
	return func() string {
		line := make([]byte, 100)
		n, err := lines.Read(line)
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		return string(line[:n])
	}
}
