package docker_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// networked makes a container of the engine whose network leads out.
func networked(t *testing.T, o docker.Options, p sandbox.NetworkPolicy) (*docker.Runtime, sandbox.Container) {
	t.Helper()
	if *image == "" {
		t.Skip("no Docker engine with an image was named; make test-docker starts one")
	}
	o.Host, o.Image, o.Runtime = *host, *image, *runtime
	rt, err := docker.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	caps, err := rt.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(caps.Networks, sandbox.NetworkFull) {
		t.Skipf("nothing leads out of the engine's containers: %+v", caps.Mechanisms)
	}
	s := spec
	s.Network = p
	c, err := rt.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if c.Isolation().Mechanisms["network"] != api.Enforced {
		t.Skipf("this kernel does not redirect: %q", c.Isolation().Warnings)
	}
	return rt, c
}

// TestNetworkWorld: names come from our name server and from no domain of the host's,
// a name does not open an address, the settings stand, and there is no interface but
// the loopback.
func TestNetworkWorld(t *testing.T) {
	names := relaytest.Names{"rebound.test": "127.0.0.1", "other.example": "93.184.216.34"}
	_, c := networked(t, docker.Options{Resolver: names}, sandbox.NetworkPolicy{Allow: []string{"*.test"}, AllowDNS: true})
	got, exit := sandboxtest.Script(t, c, nil, `getent ahostsv4 other.example | head -1; getent ahostsv4 nosuch
python3 -S -c 'import socket
socket.create_connection(("rebound.test", 1)).recv(1)' | tail -1; cut -d: -f1 -s /proc/net/dev`)
	if !strings.HasPrefix(got, "93.184.216.34") || !strings.HasSuffix(got, " lo\n") {
		t.Errorf("%q", got)
	}
	if !slices.Contains(exit.Network.Queries, "A nosuch") || slices.ContainsFunc(exit.Network.Queries, func(q string) bool { return strings.Contains(q, "nosuch.") }) {
		t.Errorf("queries %q", exit.Network.Queries)
	}
	if len(exit.Violations) != 1 || !strings.Contains(exit.Violations[0], "connection to rebound.test:1 refused: its address is this host's loopback") {
		t.Errorf("%q", exit.Violations)
	}
	for _, s := range netns.Sysctls() {
		got, _ := sandboxtest.Script(t, c, nil, "cat "+s.Path+"; echo 1 >"+s.Path)
		if value, rest, _ := strings.Cut(got, "\n"); strings.Join(strings.Fields(value), " ") != s.Value || !strings.Contains(rest, "Read-only") {
			t.Errorf("%s: %q, want %q", s.Path, got, s.Value)
		}
	}
}

// A loopback alone has small buffers, too.
func TestLoopbackSettings(t *testing.T) {
	_, c := networked(t, docker.Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost})
	for _, s := range netns.Sysctls() {
		if got, _ := sandboxtest.Script(t, c, nil, "cat "+s.Path); strings.Join(strings.Fields(got), " ") != s.Value {
			t.Errorf("%s: %q, want %q", s.Path, got, s.Value)
		}
	}
}

// TestNetworkLeavesNothing: a container that is gone has left no socket, which would
// keep its namespace.
func TestNetworkLeavesNothing(t *testing.T) {
	rt, c := networked(t, docker.Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	sockets := func() (n int) {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, _ := os.Readlink("/proc/self/fd/" + e.Name())
			if strings.HasPrefix(target, "socket:") || strings.HasPrefix(target, "net:") {
				n++
			}
		}
		return n
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := sockets()
	for range 3 {
		s := spec
		s.Network.Mode = sandbox.NetworkFull
		c, err := rt.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := running.Wait(); err != nil {
			t.Error(err)
		}
	}
	for range 500 {
		if sockets() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d sockets, %d before", sockets(), before)
}
