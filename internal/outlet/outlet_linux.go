package outlet

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Options are the operator's.
type Options struct {
	// Resolver looks up the names that programs may reach; nil is this host's.
	Resolver relay.Resolver
	// Proxy chooses the HTTP proxy for processes that are to use the host's
	// ([sandbox.NetworkPolicy.HostProxy]); nil, or a nil answer, connects directly.
	Proxy func(*url.URL) (*url.URL, error)
	// NoRedirect does without nftables, as on a kernel that has none.
	NoRedirect bool
}

// Outlet is the way out of a container, which ends at sockets of ours: they were
// made inside, and each process has a relay that serves them while it runs.
type Outlet struct {
	options  Options
	own      sandbox.NetworkPolicy
	policy   *relay.Policy // the container's
	redirect bool          // whether connections to every port are redirected
	// filter is where the kernel keeps what it refuses; nil where connections
	// cannot be redirected and only some ports lead to us.
	filter  *os.File
	sockets []*os.File // the name server's, then the listeners
	// told are the refusals that a process's end has reported; the kernel's list
	// is that of the container's whole life.
	told map[netns.Refusal]bool
}

// NoRedirectError says that this kernel redirects no connections. The outlet has to
// be made again, with a listener on each port.
type NoRedirectError struct{ Err error }

func (e *NoRedirectError) Error() string {
	return "this kernel cannot redirect connections: " + e.Err.Error()
}

// MendRedirect gives a kernel its redirection.
const MendRedirect = "As root: modprobe -a nf_tables nft_tproxy"

// New is the way out that a container's normal policy asks for, and nil where it
// leads nowhere. redirect tells whether connections to every port are redirected.
func New(p sandbox.NetworkPolicy, redirect bool, opts Options) (*Outlet, error) {
	policy, err := parse(p)
	if err != nil || !p.LeadsOut() {
		return nil, err
	}
	return &Outlet{options: opts, own: p, policy: policy, redirect: redirect, told: map[netns.Refusal]bool{}}, nil
}

// parse is what a policy means to the relay. One that leads nowhere opens nothing.
func parse(p sandbox.NetworkPolicy) (*relay.Policy, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	parsed, err := relay.Parse(relay.Rules{Full: p.Mode == sandbox.NetworkFull, Allow: p.Allow, AllowDNS: p.AllowDNS})
	if err != nil {
		return nil, &sandbox.NetworkError{Field: "allow", Detail: err.Error()}
	}
	return parsed, nil
}

// MaxPorts is how many listeners an outlet has at most. Their descriptors come out of
// a container in one message.
const MaxPorts = 32

// Sockets are those to be made inside: the one for routes, the one for rules where
// there is redirection, the name server's and the listeners.
func (o *Outlet) Sockets() ([]netns.Socket, error) {
	sockets := []netns.Socket{netns.RouteSocket()}
	if o.redirect {
		return append(append(sockets, netns.FilterSocket()), netns.ListenSockets()...), nil
	}
	ports, all := o.policy.Ports()
	if all {
		ports = append(ports, 80, 443)
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	if len(ports) > MaxPorts {
		return nil, &sandbox.UnsupportedError{What: fmt.Sprintf("an allow-list with %d ports", len(ports)),
			Reason: fmt.Sprintf("this kernel cannot redirect connections, and at most %d ports have a listener", MaxPorts), Mend: MendRedirect}
	}
	return append(sockets, netns.ListenSockets(ports...)...), nil
}

// Open leads every address of the namespace to the sockets that were made in it, as
// [Outlet.Sockets] has them. The files are the outlet's to close.
func (o *Outlet) Open(files []*os.File) error {
	route := files[0]
	defer route.Close()
	o.sockets = files[1:]
	if o.redirect {
		o.filter, o.sockets = files[1], files[2:]
	}
	if err := netns.RouteAll(route); errors.Is(err, unix.EPERM) {
		return &sandbox.UnsupportedError{What: "a network that leads out", Reason: err.Error(), Mend: "Run as root with CAP_NET_ADMIN, or as an ordinary user"}
	} else if err != nil {
		return err
	}
	switch {
	case !o.redirect:
		return nil
	case o.options.NoRedirect:
		return &NoRedirectError{errors.New("nftables are switched off")}
	}
	err := netns.Redirect(o.filter)
	if err == nil || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOBUFS) {
		return err
	}
	return &NoRedirectError{err}
}

// Redirects tells whether connections to every port are redirected, and what the
// kernel refuses is told.
func (o *Outlet) Redirects() bool { return o.filter != nil }

// Close gives the sockets up, so that nothing leads out any more.
func (o *Outlet) Close() {
	if o == nil {
		return
	}
	if o.filter != nil {
		o.filter.Close()
	}
	for _, f := range o.sockets {
		f.Close()
	}
}

// Warnings say what is weaker than it should be. why is the reason for which
// connections cannot be redirected, where they are not.
func (o *Outlet) Warnings(why error) []string {
	if o == nil || o.Redirects() {
		return nil
	}
	list := []string{fmt.Sprintf("%v; what the allow-list does not name is refused by the kernel and is no line of the violations", why)}
	if _, all := o.policy.Ports(); all {
		list = append(list, "connections lead to ports 80 and 443 and those that the allow-list names, since this kernel cannot redirect others")
	}
	return list
}

// refused are lines about what the kernel has refused since the process before.
func (o *Outlet) refused() (lines []string, err error) {
	if o.filter == nil {
		return nil, nil
	}
	list, err := netns.Refused(o.filter)
	for _, r := range list {
		if !o.told[r] {
			o.told[r] = true
			lines = append(lines, r.String()+" refused: only TCP and name queries leave the sandbox")
		}
	}
	slices.Sort(lines)
	return lines, err
}

// ResolvConf is the container's resolv.conf, where the network leads out. libc has to
// know where programs have no UDP.
func ResolvConf(noUDP bool) string {
	text := "nameserver " + relay.NameServer + "\n"
	if noUDP {
		text += "options use-vc\n"
	}
	return text
}

// TrustStores are where systems keep the certificates that a host trusts, so that
// programs can tell whom they have reached. No private keys are below them.
func TrustStores() []string {
	return []string{
		"/etc/ssl/certs",                 // Debian, SUSE, Alpine
		"/etc/pki/tls/certs",             // Fedora
		"/etc/pki/ca-trust/extracted",    // what its links lead to
		"/etc/ca-certificates/extracted", // Arch
	}
}
