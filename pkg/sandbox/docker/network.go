package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Containers have no network of the engine's, whatever they may reach: where theirs
// leads out, a relay of ours is in their network namespace (network_linux.go), which
// takes an engine on this machine, and root.

// canLeadOut tells why no network leads out of the containers, as far as that is
// known before there is one, or nil.
func (r *Runtime) canLeadOut() error {
	if name := r.ociRuntime(); advisory.OwnKernel(name) {
		return errors.New("the engine's OCI runtime " + name + " has a network stack of its own, which our relay is not in")
	}
	host := r.client.DaemonHost()
	if _, local := strings.CutPrefix(host, "unix://"); !local {
		return errors.New("the engine is at " + host + ", and only those of this machine have containers that our relay can be in")
	}
	return r.outlets.canLeadOut()
}

// pid is the container's first process, as the engine knows it.
func (e *engine) pid(ctx context.Context) (int, error) {
	got, err := e.r.client.ContainerInspect(ctx, e.id, client.ContainerInspectOptions{})
	if err != nil {
		return 0, e.r.failed("look for a container's first process", err)
	}
	if s := got.Container.State; s != nil && s.Running && s.Pid > 0 {
		return s.Pid, nil
	}
	return 0, &EngineError{What: "look for a container's first process", Err: errors.New("it runs no more"), Again: true}
}

// resolve has a container ask our name server, by TCP where programs have no UDP, and
// nothing of the host's search domains.
func (r *Runtime) resolve(h *container.HostConfig, p sandbox.NetworkPolicy) {
	if !p.LeadsOut() {
		return
	}
	h.DNS, h.DNSSearch = []netip.Addr{netip.MustParseAddr(relay.NameServer)}, []string{"."}
	if r.info.cgroups == "1" {
		h.DNSOptions = []string{"use-vc"}
	}
}

// resolving is what programs are told of it where the engine does not. Podman writes
// no resolv.conf for a container without a network of its own; libc then asks the
// loopback, where our name server is, too.
func (r *Runtime) resolving(p sandbox.NetworkPolicy) []string {
	if !p.LeadsOut() || !r.info.podman || r.info.cgroups != "1" {
		return nil
	}
	return []string{"RES_OPTIONS=use-vc"}
}

// noOutlet refuses a network that leads out.
func noOutlet(p sandbox.NetworkPolicy, why error) error {
	return &sandbox.UnsupportedError{What: "network " + string(p.Mode), Reason: why.Error(), Mend: "Use --runtime local"}
}

// probe makes the container that tells what others can be, and why none has a network
// that leads out, if so.
func (r *Runtime) probe(ctx context.Context, ref string) (c sandbox.Container, out, err error) {
	spec := sandbox.Spec{Image: ref, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}}
	if out = r.canLeadOut(); out == nil {
		spec.Network.Mode = sandbox.NetworkFull
		c, err = r.Create(ctx, spec)
		var unsupported *sandbox.UnsupportedError
		if !errors.As(err, &unsupported) {
			return c, nil, err
		}
		out = errors.New(unsupported.Reason)
		spec.Network = sandbox.NetworkPolicy{}
	}
	c, err = r.Create(ctx, spec)
	return c, out, err
}

// networkWall is the wall as probed; out is why nothing leads out.
func networkWall(i sandbox.Isolation, out error) sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "network", State: i.Mechanisms["network"], Detail: "connections and names go through a relay that holds them against the allow-list"}
	if out != nil {
		m.Detail = fmt.Sprintf("none, or a loopback of its own; nothing leads out: %v", out)
	}
	if m.State == api.Degraded {
		m.Detail = strings.Join(i.Warnings, "; ")
	}
	return m
}

// networks are the modes that containers may have.
func networks(out error) []sandbox.NetworkMode {
	modes := []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost}
	if out == nil {
		modes = append(modes, sandbox.NetworkAllowlist, sandbox.NetworkFull)
	}
	return modes
}
