package cli

import (
	"os/exec"
	"testing"
)

// TestIgnoredSignals: what whoever calls us ignores, as nohup does and a shell for what
// it starts in the background, programs do not.
func TestIgnoredSignals(t *testing.T) {
	for _, level := range []string{"full", "restricted", "none"} {
		i := invocation{user: user{self: true}, args: []string{"--quiet", "--trusted", "--isolation", level, "--lang", "bash", "--code", "grep SigIgn /proc/self/status"}}
		cmd := i.command(t.Context())
		shell := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `trap "" HUP INT QUIT PIPE USR1; exec "$0" "$@"`, binary}, i.args...)...)
		shell.Env, shell.Dir = cmd.Env, cmd.Dir
		out, err := shell.CombinedOutput()
		if err != nil || string(out) != "SigIgn:\t0000000000000000\n" {
			t.Errorf("%s: %v, %s", level, err, out)
		}
	}
}
