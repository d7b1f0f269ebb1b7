// Package cli tests the built sandbox-run from outside: real programs in real
// toolchains, judged by what a user sees.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// binary is the sandbox-run under test, and dataDir what it keeps between runs,
// such as the prepared standard library of Go. SANDBOX_TEST_BINARY and
// SANDBOX_DATA_DIR name ones that exist.
var binary, dataDir string

// coverDir, if set, is where the binary under test writes its coverage. The go
// command has GOCOVERDIR for itself.
var coverDir = os.Getenv("SANDBOX_TEST_COVERDIR")

func TestMain(m *testing.M) {
	code, err := setUp(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func setUp(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "sandbox-run-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	// Ordinary users run the binary too.
	if err := os.Chmod(dir, 0o755); err != nil {
		return 0, err
	}
	binary, dataDir = os.Getenv("SANDBOX_TEST_BINARY"), os.Getenv("SANDBOX_DATA_DIR")
	if binary == "" {
		binary = filepath.Join(dir, "sandbox-run")
		args := []string{"build", "-o", binary}
		if coverDir != "" {
			args = append(args, "-cover", "-coverpkg=github.com/sandbox-run/sandbox-run/...")
		}
		build := exec.Command("go", append(args, "../../cmd/sandbox-run")...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build sandbox-run: %w\n%s", err, out)
		}
	}
	if dataDir == "" {
		dataDir = filepath.Join(dir, "data")
	}
	return m.Run(), nil
}

// user is who runs sandbox-run.
type user struct {
	name string
	uid  uint32
	self bool // as whoever runs the tests
	env  []string
}

// users are whoever runs the tests, and for root also an ordinary user.
func users(t *testing.T) []user {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" { // there each user has a machine
		return []user{{name: "self", self: true}}
	}
	return []user{{name: "root", self: true}, ordinary(t)}
}

// ordinary is a user without any privilege, with a home of its own.
func ordinary(t *testing.T) user {
	t.Helper()
	const uid = 65534
	home := filepath.Join(filepath.Dir(binary), "nobody")
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, filepath.Join(home, "run")} {
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return user{name: "ordinary", uid: uid, env: []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "SANDBOX_DATA_DIR=" + filepath.Join(home, "data"), "XDG_DATA_HOME="}}
}

// invocation is one call of sandbox-run.
type invocation struct {
	user  user
	args  []string
	stdin string
	env   []string
	dir   string
	limit time.Duration // for the whole of it; zero means two minutes
}

// outcome is what a user sees of it.
type outcome struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// sandboxRun runs the binary as whoever runs the tests.
func sandboxRun(t *testing.T, args ...string) outcome {
	t.Helper()
	return invocation{args: args, user: user{self: true}}.run(t)
}

func (i invocation) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, i.args...)
	cmd.Env = append(os.Environ(), "SANDBOX_DATA_DIR="+dataDir)
	if coverDir != "" {
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+coverDir)
	}
	cmd.Dir = i.dir
	if !i.user.self {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: i.user.uid, Gid: i.user.uid}}
		cmd.Env = append(cmd.Env, i.user.env...)
		if cmd.Dir == "" {
			cmd.Dir = "/"
		}
	}
	cmd.Env = append(cmd.Env, i.env...)
	cmd.Stdin = strings.NewReader(i.stdin)
	return cmd
}

func (i invocation) run(t *testing.T) outcome {
	t.Helper()
	if i.limit == 0 {
		i.limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), i.limit)
	defer cancel()
	cmd := i.command(ctx)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("sandbox-run %q: %v", i.args, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("sandbox-run %q did not end within %v; stderr: %s", i.args, i.limit, stderr.String())
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(begin)}
}

// result runs with --json and decodes what comes out.
func (i invocation) result(t *testing.T) (api.Result, outcome) {
	t.Helper()
	i.args = append([]string{"--json"}, i.args...)
	o := i.run(t)
	var r api.Result
	decoder := json.NewDecoder(strings.NewReader(o.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("sandbox-run %q: no result: %v\nexit code %d\nstdout: %s\nstderr: %s", i.args, err, o.code, o.stdout, o.stderr)
	}
	if decoder.More() {
		t.Errorf("sandbox-run %q: more than one object on stdout", i.args)
	}
	return r, o
}
