//go:build !linux

package main

import (
	"errors"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// early is nothing here.
type early struct{}

func openEarly() *early { return nil }

func (*early) take() (sandbox.Runtime, error) { return openRuntime() }

func (*early) drop() {}

func openRuntime() (sandbox.Runtime, error) { return nil, errNoLinux() }

func reclaim() ([]string, error) { return nil, errNoLinux() }

// errNoLinux is what every way into the local runtime says here.
func errNoLinux() error {
	return errors.New("the local runtime needs Linux: run sandbox-run on a Linux machine, in WSL 2 on Windows, or in a Lima, Colima or Docker machine on macOS")
}
