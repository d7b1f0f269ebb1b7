// Package cli tests the built sandbox-run from outside: real programs in real
// toolchains, judged by what a user sees.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// binary is the sandbox-run under test, and dataDir what it keeps between runs,
// such as the prepared standard library of Go. SANDBOX_TEST_BINARY and
// SANDBOX_DATA_DIR name ones that exist.
var binary, dataDir string

func TestMain(m *testing.M) {
	testenv.Main(func(dir string) (code int, err error) {
		dataDir = cmp.Or(os.Getenv("SANDBOX_DATA_DIR"), filepath.Join(dir, "data"))
		if err := testenv.Prepared(dataDir, os.Geteuid()); err != nil {
			return 0, err
		}
		if binary, err = testenv.Program(dir, "sandbox-run", "SANDBOX_TEST_BINARY"); err != nil {
			return 0, err
		}
		_ = invocation{user: user{self: true}, args: []string{"gc"}}.command(context.Background()).Run() // tests say if it fails
		foreign = leftovers()
		return m.Run(), nil
	})
}

// user is who runs sandbox-run.
type user struct {
	name string
	uid  uint32
	self bool // as whoever runs the tests
	env  []string
	// needs is a program without which nothing of this user can be tested.
	needs string
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
	if err := testenv.Prepared(filepath.Join(home, "data"), uid); err != nil {
		t.Fatal(err)
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

// runs has a command run as the user.
func (u user) runs(cmd *exec.Cmd) {
	cmd.Env = append(cmd.Env, u.env...)
	if u.self {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.uid}}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
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
	cmd.Env = append(os.Environ(), "SANDBOX_DATA_DIR="+dataDir, testenv.Coverage())
	cmd.Dir = i.dir
	i.user.runs(cmd)
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
