package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// faulty is a server of which walls can be left out. One that is built now is not in /tmp, which
// the world without walls has of its own.
func faulty(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil && os.Getenv("SANDBOX_TEST_FAULT") == "" {
		t.Skip("there is no go command to build the server that it takes")
	}
	dir, err := os.MkdirTemp("/var/tmp", "sandbox-test-") //nolint:usetesting // which would be in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := testenv.Faulty(dir, "sandbox-server")
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// serving starts a server and says when it serves, which it then ends. Its exit code is that of
// the server.
const serving = `
"$0" & server=$!
while kill -0 $server 2>/dev/null; do
	if "$0" healthcheck 2>/dev/null; then
		echo it serves
		kill $server
		break
	fi
	sleep 0.1
done
wait $server`

// A server whose sandboxes lack a wall serves nobody, and says which. Where it does not look, it
// serves: it is the look that keeps it from that.
func TestServesNobodyWithoutAWall(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes a world in which a wall may be missing")
	}
	server := faulty(t)
	for _, test := range []struct {
		name, off, level, says string // says is empty where it serves
	}{
		{"every wall", "", "full", ""},
		{"capabilities", "step:capset;step:prctl PR_CAPBSET_DROP", "full", `status CapBnd is "0`},
		{"filter", "step:install the seccomp filter", "full", `status Seccomp is "0"`},
		{"Landlock", "step:landlock_restrict_self", "restricted", ` is "works": `},
		{"network", "namespace:net", "full", `namespace net is "ours"`},
		{"network, and nobody looks", "namespace:net;posture:inspect", "full", ""},
		{"rule about a terminal", "seccomp:typing into the terminal*", "full", "(ioctl) answers EBADF, not EPERM"},
		{"limits of a process", "step:setrlimit *", "full", `limit core file size is "`},
		{"mount of its own", "mount:a /tmp of its own", "full", "mount /tmp is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "timeout", "-k", "5", "90", "../hostile/world.sh", "bash", "-c", serving, server)
			cmd.Env = testenv.Environ("FAULT_OFF="+test.off, "SANDBOX_ISOLATION="+test.level, "SANDBOX_PORT=8080", "SANDBOX_WARM=off", "SANDBOX_DATA_DIR=/tmp/data", "HOME=/tmp")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			served := strings.Contains(string(out), "it serves\n")
			if code := cmd.ProcessState.ExitCode(); test.says == "" {
				if !served || code != 0 {
					t.Errorf("it serves: %v, exit code %d\n%s", served, code, out)
				}
				return
			} else if served || code != 1 {
				t.Errorf("it serves: %v, exit code %d\n%s", served, code, out)
			}
			for _, words := range []string{"sandbox-server: the isolation of this host is not what it should be, so nothing is served: ", test.says, "What to do: ", "sandbox-run doctor --posture"} {
				if !strings.Contains(string(out), words) {
					t.Errorf("it does not say %q:\n%s", words, out)
				}
			}
		})
	}
}
