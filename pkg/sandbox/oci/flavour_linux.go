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

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/stdio"
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
		f := flavour{program: path, args: o.Args, name: base, ownKernel: advisory.GVisor(base)}
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

// command is a call of the runtime with the given state directory.
func (f flavour) command(state string, args ...string) []string {
	all := append([]string{f.program}, f.args...)
	return append(append(all, "--root", state), args...)
}

// delete has the runtime kill and forget a container.
func (f flavour) delete(ctx context.Context, state, id string) error {
	_, err := f.output(ctx, f.command(state, "delete", "--force", id)...)
	return err
}

// environment is all that the runtime gets of one: nothing of ours.
func environment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}
}

// answerTimeout is how long a runtime may take for what it answers at once.
const answerTimeout = 10 * time.Second

// output is what a command of the runtime says, to its last lines. What it has started
// may live on, and hold what it writes to.
func (f flavour) output(ctx context.Context, all ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	var said stdio.Tail
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Env = environment()
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 200 * time.Millisecond // it has ended, and said all
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(all, " "), err, said.String())
	}
	return said.String(), nil
}
