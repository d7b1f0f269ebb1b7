package oci

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// flavour is what runtimes differ in.
type flavour struct {
	// program is the runtime by absolute path, and args come before its verb.
	program string
	args    []string
	// name is what the runtime calls itself, e.g. runsc.
	name string
	// ownKernel means that the container's calls never reach ours: its mounts are
	// served by the runtime, which knows binds and tmpfs alone, and inodes are its
	// own.
	ownKernel bool
}

// known are the programs that are looked for, best first.
var known = []string{"crun", "runc"}

func findFlavour(o Options) (flavour, error) {
	names := known
	if o.Program != "" {
		names = []string{o.Program}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return flavour{}, err
		}
		base := filepath.Base(path)
		f := flavour{program: path, args: o.Args, name: base, ownKernel: isGVisor(base)}
		return f, nil
	}
	if o.Program != "" {
		why := fmt.Sprintf("the OCI runtime %s is not installed", o.Program)
		if slices.Contains([]string{"crun", "runc", "runsc"}, o.Program) { // Debian's packages of the same names
			why += "; on Debian or Ubuntu: apt-get install -y " + o.Program
		}
		return flavour{}, errors.New(why)
	}
	return flavour{}, errors.New("no OCI runtime is installed; on Debian or Ubuntu: apt-get install -y crun")
}

// isGVisor knows runsc by its name, which may have a version behind it.
func isGVisor(name string) bool {
	_, ok := strings.CutPrefix(name, "runsc")
	return ok
}

// command is a call of the runtime with the given state directory.
func (f flavour) command(state string, args ...string) []string {
	all := append([]string{f.program}, f.args...)
	return append(append(all, "--root", state), args...)
}

// run runs the runtime for a call that answers at once.
func (f flavour) run(ctx context.Context, state string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	all := f.command(state, args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}
	cmd.Dir = "/"
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(all, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
