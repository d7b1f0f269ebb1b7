package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// network is the way out of a container, which ends at sockets of ours: they
// were made inside, and each process has a relay that serves them while it runs.
type network struct {
	policy *relay.Policy // the container's
	// redirect tells whether connections to every port are redirected, unless
	// they are switched off.
	redirect, switchedOff bool
	// filter is where the kernel keeps what it refuses; nil where connections
	// cannot be redirected and only some ports lead to us.
	filter  *os.File
	sockets []*os.File // the name server's, then the listeners
	// told are the refusals that a process's end has reported; the kernel's list
	// is that of the container's whole life.
	told map[netns.Refusal]bool
}

// redirection is what is known of this kernel's nftables. Some kernels and some
// hosts lack them, or the part that redirects connections.
type redirection int

const (
	redirectUnknown redirection = iota
	redirectWorks
	redirectAbsent
)

// noRedirectError says that this kernel redirects no connections. The container
// has to be made again, with a listener on each port.
type noRedirectError struct{ err error }

func (e *noRedirectError) Error() string {
	return "this kernel cannot redirect connections: " + e.err.Error()
}

// relayPolicy is what a policy means to the relay. One that leads nowhere opens
// nothing.
func relayPolicy(p sandbox.NetworkPolicy) (*relay.Policy, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	parsed, err := relay.Parse(relay.Rules{Full: p.Mode == sandbox.NetworkFull, Allow: p.Allow, AllowDNS: p.AllowDNS})
	if err != nil {
		return nil, &sandbox.NetworkError{Field: "allow", Detail: err.Error()}
	}
	return parsed, nil
}

// maxPorts is how many listeners a container has at most. Their descriptors come
// out of it in one message.
const maxPorts = 32

// inside are the sockets that init makes: the one for routes, the one for rules
// where there is redirection, the name server's and the listeners.
func (n *network) inside() ([]netns.Socket, error) {
	sockets := []netns.Socket{netns.RouteSocket()}
	if n.redirect {
		return append(append(sockets, netns.FilterSocket()), netns.ListenSockets()...), nil
	}
	ports, all := n.policy.Ports()
	if all {
		ports = append(ports, 80, 443)
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	if len(ports) > maxPorts {
		return nil, &sandbox.UnsupportedError{What: fmt.Sprintf("an allow-list with %d ports", len(ports)),
			Reason: fmt.Sprintf("this kernel cannot redirect connections, and at most %d ports have a listener", maxPorts), Mend: mendRedirect}
	}
	return append(sockets, netns.ListenSockets(ports...)...), nil
}

// mendRedirect gives a kernel its redirection.
const mendRedirect = "As root: modprobe -a nf_tables nft_tproxy"

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

// newNetwork is the way out that a container's policy asks for, and nil where it
// leads nowhere.
func (r *Runtime) newNetwork(p sandbox.NetworkPolicy, redirect bool) (*network, error) {
	policy, err := relayPolicy(p)
	if err != nil || !p.LeadsOut() {
		return nil, err
	}
	return &network{policy: policy, redirect: redirect, switchedOff: r.options.NoRedirect, told: map[netns.Refusal]bool{}}, nil
}

// open leads every address of the namespace to the sockets that init has made
// and sent. The files are the network's to close.
func (n *network) open(files []*os.File) error {
	route := files[0]
	defer route.Close()
	n.sockets = files[1:]
	if n.redirect {
		n.filter, n.sockets = files[1], files[2:]
	}
	if err := netns.RouteAll(route); errors.Is(err, unix.EPERM) {
		return &sandbox.UnsupportedError{What: "a network that leads out", Reason: err.Error(), Mend: "Run as root with CAP_NET_ADMIN, or as an ordinary user"}
	} else if err != nil {
		return err
	}
	switch {
	case !n.redirect:
		return nil
	case n.switchedOff:
		return &noRedirectError{errors.New("nftables are switched off")}
	}
	err := netns.Redirect(n.filter)
	if err == nil || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOBUFS) {
		return err
	}
	return &noRedirectError{err}
}

// withoutFilter turns init's failure to make a socket that the kernel does not
// have into what it means.
func withoutFilter(err error) error {
	var step *spawn.StepError
	if errors.As(err, &step) && step.Step == socketStep(netns.FilterSocket()) && step.Errno == unix.EPROTONOSUPPORT {
		return &noRedirectError{err}
	}
	return err
}

func (n *network) close() {
	if n == nil {
		return
	}
	if n.filter != nil {
		n.filter.Close()
	}
	for _, f := range n.sockets {
		f.Close()
	}
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

// warnings say what is weaker than it should be.
func (n *network) warnings(why error) []string {
	if n == nil || n.filter != nil {
		return nil
	}
	list := []string{fmt.Sprintf("%v; what the allow-list does not name is refused by the kernel and is no line of the violations", why)}
	if _, all := n.policy.Ports(); all {
		list = append(list, "connections lead to ports 80 and 443 and those that the allow-list names, since this kernel cannot redirect others")
	}
	return list
}
