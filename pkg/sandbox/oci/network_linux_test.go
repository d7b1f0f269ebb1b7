package oci_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// flavours runs a test with each runtime of this kernel that is installed.
func flavours(t *testing.T, test func(t *testing.T, program string)) {
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	for _, program := range []string{"crun", "runc"} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed", program)
			}
			test(t, program)
		})
	}
}

// networked opens a runtime and makes a container with a network.
func networked(t *testing.T, o oci.Options, p sandbox.NetworkPolicy) (*oci.Runtime, sandbox.Container) {
	t.Helper()
	o.RuntimeDir = t.TempDir()
	rt, err := oci.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt, newNetworked(t, rt, p)
}

func newNetworked(t *testing.T, rt *oci.Runtime, p sandbox.NetworkPolicy) sandbox.Container {
	t.Helper()
	c, err := rt.Create(t.Context(), sandbox.Spec{Network: p, Disk: sandbox.DiskLimit{Bytes: 32 << 20, Inodes: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Isolation().Mechanisms["network"] != api.Enforced {
		t.Skipf("this kernel does not redirect: %q", c.Isolation().Warnings)
	}
	return c
}

// TestNetworkNames: a name is reached by its own address alone, and what is denied,
// asked for and refused by the kernel is told.
func TestNetworkNames(t *testing.T) {
	flavours(t, func(t *testing.T, program string) {
		port := relaytest.NewGreeter(t).Port
		names := relaytest.Names{"good.test": "127.0.0.1", "rebound.test": "127.0.0.1", "meta.test": "169.254.169.254", "other.example": "93.184.216.34"}
		_, c := networked(t, oci.Options{Program: program, Resolver: names}, sandbox.NetworkPolicy{Allow: []string{"*.test", "127.0.0.1:" + port}, AllowDNS: true})
		if got, exit := sandboxtest.Fetch(t, c, nil, "http://good.test:"+port); got != "hello good.test:"+port || exit.Network.Connections != 1 {
			t.Errorf("%q, %+v", got, exit)
		}
		for url, want := range map[string]string{
			"http://rebound.test:1/":           "connection to rebound.test:1 refused: its address is this host's loopback",
			"http://meta.test/":                "connection to meta.test:80 refused: its address is the cloud's metadata service",
			"http://[2606:4700:4700::1111]:8/": "tcp to [2606:4700:4700::1111]:8 refused: only TCP and name queries leave the sandbox",
		} {
			if got, exit := sandboxtest.Fetch(t, c, nil, url); got != "ConnectionResetError" && got != "ConnectionRefusedError" || len(exit.Violations) != 1 || !strings.Contains(exit.Violations[0], want) {
				t.Errorf("%s: %q, %q", url, got, exit.Violations)
			}
		}
		got, exit := sandboxtest.Script(t, c, nil, "getent ahostsv4 other.example | head -1")
		if !strings.HasPrefix(got, "93.184.216.34") || !slices.Contains(exit.Network.Queries, "A other.example") || len(exit.Violations) > 0 {
			t.Errorf("%q, %+v", got, exit)
		}
	})
}

// TestNetworkHostProxy: the host's proxy is for those processes that are to use it.
func TestNetworkHostProxy(t *testing.T) {
	proxy := relaytest.NewProxy(t)
	flavours(t, func(t *testing.T, program string) {
		policy := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"index.test:80"}, HostProxy: true}
		_, c := networked(t, oci.Options{Program: program, Resolver: relaytest.Names{}, Proxy: proxy.Choose}, policy)
		if got, exit := sandboxtest.Fetch(t, c, nil, "http://index.test/"); got != "proxy" || <-proxy.Asked != "CONNECT index.test:80" {
			t.Errorf("%q, %+v", got, exit)
		}
		policy.HostProxy = false
		if got, _ := sandboxtest.Fetch(t, c, &policy, "http://index.test/"); got != "gaierror" || len(proxy.Asked) > 0 {
			t.Errorf("without the proxy: %q", got)
		}
	})
}

// TestNetworkWorld: the settings and certificates are there and nobody changes them,
// and there is no interface but the loopback.
func TestNetworkWorld(t *testing.T) {
	const store = "/etc/ssl/certs"
	entries, err := os.ReadDir(store)
	if err != nil {
		t.Skip("this host keeps its certificates elsewhere")
	}
	flavours(t, func(t *testing.T, program string) {
		rt, c := networked(t, oci.Options{Program: program}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
		for _, s := range netns.Sysctls() {
			got, _ := sandboxtest.Script(t, c, nil, "cat "+s.Path+"; echo 1 >"+s.Path)
			if value, rest, _ := strings.Cut(got, "\n"); strings.Join(strings.Fields(value), " ") != s.Value || !strings.Contains(rest, "Read-only") {
				t.Errorf("%s: %q, want %q", s.Path, got, s.Value)
			}
		}
		got, _ := sandboxtest.Script(t, c, nil, "ls -A "+store+" | wc -l; touch "+store+"/x 2>&1 | grep -o 'Read-only\\|Permission'; ls -A /etc/ssl; cut -d: -f1 -s /proc/net/dev")
		if lines := strings.Fields(got); len(lines) != 4 || lines[3] != "lo" || lines[0] != strconv.Itoa(len(entries)) || lines[2] != "certs" {
			t.Errorf("%q, want %d certificates", got, len(entries))
		}
		closed, err := rt.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if none, _ := sandboxtest.Script(t, closed, nil, "ls /etc/ssl; cat /etc/resolv.conf"); !strings.Contains(none, "No such file") || strings.Contains(none, "nameserver") {
			t.Errorf("without a network: %q", none)
		}
		caps, err := rt.Probe(t.Context())
		if err != nil || !slices.Contains(caps.Networks, sandbox.NetworkFull) || !slices.Contains(caps.Networks, sandbox.NetworkAllowlist) {
			t.Errorf("networks %v, %v", caps.Networks, err)
		}
	})
}

// TestNetworkLeavesNothing: no descriptor, which would keep the namespace, no
// goroutine and no namespace.
func TestNetworkLeavesNothing(t *testing.T) {
	flavours(t, func(t *testing.T, program string) {
		rt, c := networked(t, oci.Options{Program: program}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
		use := func(c sandbox.Container) {
			sandboxtest.Script(t, c, nil, "true")
			if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/no/such/program"}}); err == nil {
				t.Error("a program that is not there was started")
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
		use(c)
		nothingMore := sandboxtest.NothingMore(t)
		for range 5 {
			use(newNetworked(t, rt, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}))
		}
		nothingMore()
	})
}

// TestNetworkOfOwnStack: gVisor's containers have no network of the namespace's, so
// they get none that leads out.
func TestNetworkOfOwnStack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	program := t.TempDir() + "/runsc-test"
	if err := os.WriteFile(program, []byte("#!/bin/false\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	s := spec
	s.Network.Mode = sandbox.NetworkFull
	var unsupported *sandbox.UnsupportedError
	if _, err := rt.Create(t.Context(), s); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "a network stack of its own") || unsupported.Mend == "" {
		t.Errorf("%v", err)
	}
}
