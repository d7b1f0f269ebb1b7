package cli

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInherited: what whoever calls us ignores, as nohup does and a shell for what it starts in
// the background, programs do not; nor do they wake later than others because we may.
func TestInherited(t *testing.T) {
	for _, level := range []string{"full", "restricted", "none"} {
		i := invocation{user: user{self: true}, args: []string{"--quiet", "--trusted", "--isolation", level, "--lang", "bash", "--code", "grep SigIgn /proc/self/status; read slack < /proc/self/timerslack_ns; echo $slack"}}
		cmd := i.command(t.Context())
		shell := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `trap "" HUP INT QUIT PIPE USR1; exec "$0" "$@"`, binary}, i.args...)...)
		shell.Env, shell.Dir = cmd.Env, cmd.Dir
		out, err := sleepily(shell)
		if err != nil || string(out) != "SigIgn:\t0000000000000000\n50000\n" {
			t.Errorf("%s: %v, %s", level, err, out)
		}
	}
}

// sleepily runs a command whose timers may be a millisecond late.
func sleepily(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread() // and never unlocked: the thread ends
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1_000_000, 0, 0, 0); err != nil {
		return nil, err
	}
	return cmd.CombinedOutput()
}
