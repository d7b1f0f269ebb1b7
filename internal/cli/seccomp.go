package cli

import (
	"encoding/json"
	"runtime"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// doctorFlags is the grammar of doctor.
type doctorFlags struct {
	lookFlags
	Seccomp bool `help:"Print the filter of system calls instead, for programs without a network, as OCI runtimes and docker run --security-opt seccomp=FILE take it."`
	Posture bool `help:"Look at a sandbox from inside instead: what a program there is, sees and can call, and what of that is not as it should be."`
}

// printFilter prints the profile that containers of an engine are given.
func (a *app) printFilter() error {
	profile, err := guest.Profile(seccomp.Options{AllowAffinity: true}, sandbox.NetworkPolicy{}, runtime.GOARCH)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(profile, "", "  ")
	if err != nil {
		return err
	}
	return a.print(string(text) + "\n")
}
