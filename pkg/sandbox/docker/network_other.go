//go:build !linux

package docker

import (
	"context"
	"errors"
	"runtime"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// outlets lead no network out: engines run in a virtual machine here.
type outlets struct{}

func newOutlets(Options) *outlets { return &outlets{} }

func (*outlets) canLeadOut() error {
	return errors.New("on " + runtime.GOOS + " the engine's containers are in a virtual machine, where our relay cannot be")
}

type way struct{}

func (way) close() {}

func (way) connect() func(context.Context, *sandbox.NetworkPolicy) (guest.Connection, error) {
	return nil
}

func (*engine) degrade(*sandbox.Isolation) {}

func (*engine) openNetwork(context.Context, sandbox.NetworkPolicy) error { return nil }
