package sandbox

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// A caller opens public addresses and names; this machine and its networks are
// not a caller's to open.
func TestNetworkCeiling(t *testing.T) {
	t.Parallel()
	for entry, status := range map[string]int{
		"localhost": 403, "localhost:8080": 403, "127.0.0.1:80": 403, "host.docker.internal": 403, "[::1]:80": 403,
		"169.254.169.254": 403, "10.0.0.0/8": 403, "192.168.1.1:22": 403, "[fd00::1]": 403, "100.100.100.200:80": 403,
		"http://example.org": 422, "example.org:0": 422, "*": 422, "": 422,
	} {
		for _, mode := range []string{"allowlist", "full"} {
			p := shared.execute(t, fmt.Sprintf(`{"code":"1","network":{"mode":%q,"allow":["example.org:443",%q]}}`, mode, entry)).problem(t, status)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "/network/allow" {
				t.Errorf("%s: %+v", entry, p)
			}
		}
	}
	for _, c := range []struct{ network, pointer string }{
		{`{"mode":"none","allow":["example.org"]}`, "/network/allow"},
		{`{"mode":"localhost","allow_dns":true}`, "/network/allow_dns"},
		{`{"mode":"host"}`, "/network/mode"},
	} {
		p := shared.execute(t, `{"code":"1","network":`+c.network+`}`).problem(t, 422)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer {
			t.Errorf("%s: %+v", c.network, p)
		}
	}
}

// What leads out is held against the request, and told in the result.
func TestNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	const code = `import socket, sys
for host, port in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        with socket.create_connection((host, int(port)), timeout=20) as s:
            print(s.recv(10))
    except OSError as e:
        print(type(e).__name__)
`
	// Their own loopback is empty; without one of their own it is the host's, and closed.
	loopback, refused, wall := "ConnectionRefusedError", 3, api.Enforced
	if restricted(t) {
		loopback, refused, wall = "ConnectionResetError", 4, api.Degraded
	}
	for _, network := range []api.RequestNetwork{{Mode: "full"}, {Mode: "allowlist", Allow: []string{"93.184.216.0/24:80"}}, {Allow: []string{"example.org"}}} {
		r := shared.run(t, api.Request{Code: code, Network: &network,
			Args: []string{"127.0.0.1", port, "169.254.169.254", "80", "10.0.0.1", port, "host.docker.internal", port}})
		if want := loopback + "\nConnectionResetError\nConnectionResetError\ngaierror\n"; r.Stdout != want {
			t.Errorf("%+v: stdout %q, stderr %q, want %q", network, r.Stdout, r.Stderr, want)
		}
		for _, want := range []string{"169.254.169.254:80 refused", "10.0.0.1:" + port + " refused", "host.docker.internal refused"} {
			if !slices.ContainsFunc(r.Meta.Violations, func(line string) bool { return strings.Contains(line, want) }) {
				t.Errorf("%+v: no violation says %q: %q", network, want, r.Meta.Violations)
			}
		}
		if m := r.Meta; len(m.Violations) != refused || m.Network.Connections != 0 || m.Isolation["network"] != wall || network.Mode == "" && m.Network.Mode != "allowlist" {
			t.Errorf("%+v", m)
		}
	}
}
