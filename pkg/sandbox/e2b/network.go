package e2b

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// rules are what the service's firewall is told. What is allowed goes before what
// is denied, and without internet access everything else is denied.
type rules struct {
	internet bool
	allow    []string
}

// everywhere is what allow-lists deny beside their entries: without it the service
// does not look at names.
const everywhere = "0.0.0.0/0"

var namedHost = lazyregexp.New(`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// firewall translates a normal, valid policy.
func firewall(p sandbox.NetworkPolicy) (rules, error) {
	if p.AllowDNS {
		return rules{}, unsupportedNetwork("names that resolve while nothing can be connected to", "E2B has no rule for it", "Leave out allow_dns")
	}
	out := rules{internet: p.Mode == sandbox.NetworkFull}
	for _, entry := range p.Allow {
		if err := checkEntry(entry); err != nil {
			return rules{}, err
		}
		if !out.internet { // else it is open already
			out.allow = append(out.allow, entry)
		}
	}
	return out, nil
}

// checkEntry refuses what the service's firewall has no rule for.
func checkEntry(entry string) error {
	host, port, hasPort := strings.Cut(entry, ":")
	address, addressErr := netip.ParseAddr(entry)
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		address, addressErr = prefix.Addr(), nil
	}
	private := addressErr == nil && (address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsUnspecified())
	switch {
	case private, host == "localhost", strings.HasSuffix(host, ".internal"):
		return unsupportedNetwork(fmt.Sprintf("the allow-list's %q", entry), "a sandbox of E2B reaches neither this host nor private networks", "Use the runtime local for it")
	case addressErr == nil && address.Is4():
		return nil
	case addressErr == nil:
		return unsupportedNetwork(fmt.Sprintf("the allow-list's %q", entry), "E2B's firewall knows no IPv6", "Name the host, or its IPv4 address")
	case hasPort && port != "" && strings.Trim(port, "0123456789") == "":
		return unsupportedNetwork(fmt.Sprintf("the allow-list's %q", entry), "E2B's firewall knows no ports", fmt.Sprintf("Allow %q with all of its ports", host))
	case !namedHost().MatchString(entry):
		return &sandbox.NetworkError{Field: "allow", Detail: fmt.Sprintf("%.80q is no entry of an allow-list: a host, *.example.org, an address or a network", entry)}
	}
	return nil
}

func unsupportedNetwork(what, reason, mend string) error {
	return &sandbox.UnsupportedError{What: what, Reason: reason, Mend: mend}
}

// narrowed is the policy of one process, which must not be wider than its
// container's.
func (c *container) narrowed(p *sandbox.NetworkPolicy) (rules, error) {
	if p == nil {
		return c.rules, nil
	}
	own, whole := p.Normal(), c.spec.Network
	if err := own.Validate(); err != nil {
		return rules{}, err
	}
	out, err := firewall(own)
	if err != nil {
		return rules{}, err
	}
	wider := false
	switch own.Mode {
	case sandbox.NetworkNone:
	case sandbox.NetworkLocalhost:
		wider = whole.Mode == sandbox.NetworkNone
	case sandbox.NetworkFull:
		wider = whole.Mode != sandbox.NetworkFull
	default:
		wider = !whole.LeadsOut() || whole.Mode != sandbox.NetworkFull && slices.ContainsFunc(own.Allow, func(e string) bool { return !slices.Contains(whole.Allow, e) })
	}
	if wider {
		return rules{}, fmt.Errorf("a process cannot have network %s in a container with network %s that does not allow all of it", own.Mode, whole.Mode)
	}
	return out, nil
}

// networkBody is the part of a request that sets rules.
type networkBody struct {
	AllowOut []string `json:"allowOut,omitempty"`
	DenyOut  []string `json:"denyOut,omitempty"`
	// AllowPublicTraffic false keeps strangers from what listens in the sandbox.
	AllowPublicTraffic *bool `json:"allowPublicTraffic,omitempty"`
}

func (r rules) body() networkBody {
	if len(r.allow) == 0 {
		return networkBody{}
	}
	return networkBody{AllowOut: r.allow, DenyOut: []string{everywhere}}
}

// setRules changes the firewall of the sandbox, if it is another than now.
func (c *container) setRules(ctx context.Context, r rules) error {
	if c.current != nil && reflect.DeepEqual(r, *c.current) {
		return nil
	}
	body := struct {
		networkBody
		Internet bool `json:"allow_internet_access"`
	}{r.body(), r.internet}
	c.current = nil // whose answer is lost may have done it
	_, err := c.rt.client.control(ctx, "change the network", http.MethodPut, "/sandboxes/"+c.envd.id+"/network", c.envd.id, body, nil)
	if err != nil {
		return fmt.Errorf("a network for this process alone: %w", err)
	}
	c.current = &r
	return nil
}
