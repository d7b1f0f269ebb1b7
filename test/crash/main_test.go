// Package crash kills sandbox-run and sandbox-server at every step of a container's
// life, starts them again, and looks that nothing of ours is left and nothing foreign
// is touched.
//
// The programs are built with the tag fault, so that they can be told where to die
// (internal/fault). The table of points_test.go has every such place, and how it is
// reached; a place that is not reached fails.
package crash

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	recoveries = flag.Int("recoveries", 8, "how often TestRecoveries has something die at random")
	seed       = flag.Uint64("seed", 0, "what TestRecoveries begins with; 0 is chosen")
	within     = flag.Duration("patience", 30*time.Second, "how long a server may take to come to a place")
	only       = flag.String("point", "", "die at this place alone")
)

// The programs under test, and a directory that every user can pass.
var program, server, work string

func TestMain(m *testing.M) {
	flag.Parse()
	testenv.Main(func(dir string) (code int, err error) {
		work = dir
		if program, err = testenv.Faulty(dir, "sandbox-run"); err != nil {
			return 0, err
		}
		if server, err = testenv.Faulty(dir, "sandbox-server"); err != nil {
			return 0, err
		}
		return m.Run(), nil
	})
}

// marker is in the environment of all that the tests start, and of the programs in the
// sandboxes.
const marker = "CRASH_TEST=mine"

// ordinaryUser is nobody: a user without any privilege.
const ordinaryUser = 65534

// user is whom programs run as, with directories of its own.
type user struct {
	name string
	as   *syscall.Credential // nil for ourselves
	home string
	more []string // settings beside the usual ones, or in their place
}

// with is the user with other settings.
func (u user) with(settings ...string) user {
	u.more = slices.Concat(u.more, settings)
	return u
}

// unused is the user with a data directory that is empty, since what is cached is not made again.
func (u user) unused(t *testing.T) user {
	t.Helper()
	dir := u.data() + "-fresh"
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return u.with("SANDBOX_DATA_DIR=" + dir)
}

// users are those that this test can be: root is the ordinary user as well.
func users(t *testing.T) (root, ordinary user) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it looks at what every user has left, and is an ordinary user besides")
	}
	root = user{name: "root", home: filepath.Join(work, "root")}
	ordinary = user{name: "ordinary", home: filepath.Join(work, "ordinary"), as: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	for _, u := range []user{root, ordinary} {
		for _, dir := range []string{u.home, u.run(), u.data()} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if u.as != nil {
				if err := os.Chown(dir, ordinaryUser, ordinaryUser); err != nil {
					t.Fatal(err)
				}
			}
		}
		uid := os.Geteuid()
		if u.as != nil {
			uid = ordinaryUser
		}
		if err := testenv.Prepared(u.data(), uid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(u.home, 0o755); err != nil {
			t.Fatal(err)
		}
		u.does(t, "gc") // what somebody else has left
	}
	return root, ordinary
}

func (u user) run() string  { return filepath.Join(u.home, "run") }
func (u user) data() string { return filepath.Join(u.home, "data") }

// runtimeDir is where the user's processes tell that they are alive.
func (u user) runtimeDir() string {
	if u.as == nil {
		return "/run/sandbox-run"
	}
	return filepath.Join(u.run(), "sandbox-run")
}

// settings are what a program of ours is told by its environment.
func (u user) settings(more ...string) []string {
	return slices.Concat([]string{
		marker, "HOME=" + u.home, "XDG_RUNTIME_DIR=" + u.run(), "SANDBOX_DATA_DIR=" + u.data(),
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	}, u.more, more)
}

// command is sandbox-run as the user calls it.
func (u user) command(args, settings []string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = u.home
	cmd.Env = append(testenv.Environ(u.settings()...), settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.as, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// does runs sandbox-run to its end, which must be a good one.
func (u user) does(t *testing.T, args ...string) string {
	t.Helper()
	cmd := u.command(args, nil)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: sandbox-run %q: %v\n%s", u.name, args, err, words(err))
	}
	return string(out)
}

func words(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// killed tells whether a process died of SIGKILL.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// hello is a run that must work, whatever was before.
func (u user) hello(t *testing.T) {
	t.Helper()
	if out := u.does(t, "--lang", "bash", "--quiet", "--code", "echo hello"); out != "hello\n" {
		t.Errorf("%s: hello says %q", u.name, out)
	}
}
