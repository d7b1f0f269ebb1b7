package local

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// redirection is what is known of this kernel's nftables. Some kernels and some
// hosts lack them, or the part that redirects connections.
type redirection int

const (
	redirectUnknown redirection = iota
	redirectWorks
	redirectAbsent
)

// socketStep is the step that makes a socket.
func socketStep(s netns.Socket) string { return "make " + s.Name }

// makeSocket appends the calls that make a socket in the namespace of init.
func makeSocket(p *spawn.Program, s netns.Socket) spawn.Arg {
	fd := p.Call(socketStep(s), unix.SYS_SOCKET, spawn.Value(s.Family), spawn.Value(s.Type|unix.SOCK_CLOEXEC), spawn.Value(s.Protocol)).Save()
	for _, o := range s.Options {
		value := p.Bytes(binary.NativeEndian.AppendUint32(nil, uint32(o.Value)))
		p.Call("set up "+s.Name, unix.SYS_SETSOCKOPT, fd, spawn.Value(o.Level), spawn.Value(o.Name), value, spawn.Value(4))
	}
	if s.Address != nil {
		p.Call("bind "+s.Name, unix.SYS_BIND, fd, p.Bytes(s.Address), spawn.Value(len(s.Address)))
	}
	if s.Backlog > 0 {
		p.Call("listen on "+s.Name, unix.SYS_LISTEN, fd, spawn.Value(s.Backlog))
	}
	return fd
}

// newOutlet is the way out that a container's policy asks for, and nil where it
// leads nowhere.
func (r *Runtime) newOutlet(p sandbox.NetworkPolicy, redirect bool) (*outlet.Outlet, error) {
	return outlet.New(p, redirect, outlet.Options{Resolver: r.options.Resolver, Proxy: r.options.Proxy, NoRedirect: r.options.NoRedirect})
}

// withoutFilter turns init's failure to make a socket that the kernel does not
// have into what it means.
func withoutFilter(err error) error {
	var step *spawn.StepError
	if errors.As(err, &step) && step.Step == socketStep(netns.FilterSocket()) && step.Errno == unix.EPROTONOSUPPORT {
		return &outlet.NoRedirectError{Err: err}
	}
	return err
}

// processPolicy is what a process of the container may reach.
func (c *container) processPolicy(p sandbox.Process) (sandbox.NetworkPolicy, error) {
	if p.Network == nil {
		return c.spec.Network, nil
	}
	own, all := p.Network.Normal(), c.spec.Network.Mode
	if err := own.Validate(); err != nil {
		return own, err
	}
	switch {
	case own.Mode == sandbox.NetworkLocalhost && c.walls.seccomp && !c.walls.namespaces:
		return own, errNoLoopback
	case own.Mode == sandbox.NetworkNone || own.Mode == all || c.network != nil:
		return own, nil
	}
	return own, fmt.Errorf("the process asks for network %s and its container has network %s", own.Mode, all)
}
