package oci

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// openNetwork makes the network namespace of a container whose network leads out.
// Made by us and not by the runtime, it belongs to our own user namespace, so that
// nothing in the container could ever change its rules.
func (r *Runtime) openNetwork(b *bundle) (err error) {
	if !b.spec.Network.LeadsOut() {
		return nil
	}
	if b.netns, err = outlet.NewNamespace(); err != nil {
		return err
	}
	fault.Point("network namespace made")
	b.outlet, err = r.outlets.Open(b.spec.Network, b.netns)
	return err
}

// joined lets the namespaces go when the container lives in them, or never will.
func (b *bundle) joined() {
	for _, ns := range []*os.File{b.netns, b.userns} {
		if ns != nil {
			ns.Close()
		}
	}
}

// enterNetwork appends the move of what becomes the runtime into the container's network
// namespace. A runtime could not enter it by its path once it is in the user namespace,
// which is where runc goes first: there it has no rights over what is ours.
func (b *bundle) enterNetwork(p *spawn.Program) {
	if b.netns != nil {
		p.Call("setns to the network", unix.SYS_SETNS, p.File(int(b.netns.Fd())), spawn.Value(unix.CLONE_NEWNET))
	}
}

// connect leads the container's processes out; nil where nothing does.
func (b *bundle) connect() func(context.Context, *sandbox.NetworkPolicy) (guest.Connection, error) {
	if b.outlet == nil {
		return nil
	}
	return func(ctx context.Context, own *sandbox.NetworkPolicy) (guest.Connection, error) {
		return b.outlet.Connect(ctx, own)
	}
}

// canLeadOut tells why no network leads out of this runtime's containers, or nil.
func (r *Runtime) canLeadOut() error {
	if r.flavour.ownKernel {
		return errors.New(r.flavour.name + " has a network stack of its own, which our relay is not in")
	}
	return r.outlets.Probe()
}

// networks are the modes that containers may have.
func (r *Runtime) networks() []sandbox.NetworkMode {
	modes := []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost}
	if r.canLeadOut() == nil {
		modes = append(modes, sandbox.NetworkAllowlist, sandbox.NetworkFull)
	}
	return modes
}
