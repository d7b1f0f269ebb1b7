//go:build !linux

package engine

import (
	"errors"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Local says what the local runtime needs.
func Local(func(string) string) (sandbox.Runtime, error) { return nil, errNoLinux() }

func openLocal(config.Config, Options) (sandbox.Runtime, error) { return nil, errNoLinux() }

func runtimeDir() string { return "" }

func openOCI(config.Config, Options) (sandbox.Runtime, error) {
	return nil, errors.New("OCI runtimes need Linux: run sandbox-run on a Linux machine, in WSL 2 on Windows, or in a Lima, Colima or Docker machine on macOS")
}

// ReclaimHere has nothing to remove where nothing can have run.
func ReclaimHere() ([]string, error) { return nil, nil }

// errNoLinux is what every way into the local runtime says here.
func errNoLinux() error {
	return errors.New("the local runtime needs Linux: run sandbox-run on a Linux machine, in WSL 2 on Windows, or in a Lima, Colima or Docker machine on macOS")
}
