package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// networked opens a runtime and makes a container with a network.
func networked(t *testing.T, o Options, p sandbox.NetworkPolicy) (*Runtime, sandbox.Container) {
	t.Helper()
	o.RuntimeDir = t.TempDir()
	rt, err := New(o)
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

func newNetworked(t *testing.T, rt *Runtime, p sandbox.NetworkPolicy) sandbox.Container {
	t.Helper()
	c, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelFull, Network: p, Disk: sandbox.DiskLimit{Bytes: 32 << 20, Inodes: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if !rt.options.NoRedirect && c.Isolation().Mechanisms["network"] != api.Enforced {
		t.Skipf("this kernel does not redirect: %q", c.Isolation().Warnings)
	}
	return c
}

// reset is what fetching prints of a connection that the relay has refused.
const reset = "ConnectionResetError"

// Where connections cannot be redirected there are listeners on the ports that
// the allow-list names; the first container finds that out.
func TestNetworkWithoutRedirection(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	rt, c := networked(t, Options{NoRedirect: true}, sandbox.NetworkPolicy{Allow: []string{"localhost:" + port, "127.0.0.1:81"}})
	if got, exit := sandboxtest.Fetch(t, c, nil, "http://host.docker.internal:"+port); got != "hello host.docker.internal:"+port || exit.Network.Connections != 1 {
		t.Errorf("%q, %+v", got, exit)
	}
	if got, exit := sandboxtest.Fetch(t, c, nil, "http://93.184.216.34:81"); got != reset || len(exit.Violations) != 1 {
		t.Errorf("a port with a listener: %q, %q", got, exit.Violations)
	}
	if got, exit := sandboxtest.Fetch(t, c, nil, "http://93.184.216.34:82"); got != "ConnectionRefusedError" || len(exit.Violations) != 0 {
		t.Errorf("a port without: %q, %q", got, exit.Violations)
	}
	i := c.Isolation()
	if i.Level != sandbox.LevelFull || i.Mechanisms["network"] != api.Degraded || len(i.Warnings) == 0 || !strings.Contains(i.Warnings[len(i.Warnings)-1], "cannot redirect connections: nftables are switched off") {
		t.Errorf("%+v", i)
	}
	all := newNetworked(t, rt, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull, Allow: []string{"localhost:" + port}})
	if warnings := all.Isolation().Warnings; len(warnings) == 0 || !strings.Contains(warnings[len(warnings)-1], "ports 80 and 443") {
		t.Errorf("warnings %q", warnings)
	}
	for _, url := range []string{"http://169.254.169.254", "http://169.254.169.254:443"} {
		if _, exit := sandboxtest.Fetch(t, all, nil, url); len(exit.Violations) != 1 {
			t.Errorf("%s: %q", url, exit.Violations)
		}
	}
	many := sandbox.NetworkPolicy{}
	for p := range outlet.MaxPorts + 1 {
		many.Allow = append(many.Allow, fmt.Sprintf("example.org:%d", 1000+p))
	}
	var unsupported *sandbox.UnsupportedError
	if _, err := rt.Create(t.Context(), sandbox.Spec{Network: many, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}}); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "33 ports") {
		t.Errorf("error %v", err)
	}
	many.Allow = many.Allow[:outlet.MaxPorts]
	newNetworked(t, rt, many)
	caps, err := rt.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wall := caps.Mechanisms[slices.IndexFunc(caps.Mechanisms, func(m sandbox.Mechanism) bool { return m.Name == "network" })]
	if wall.State != api.Degraded || wall.Mend == "" || !slices.Contains(caps.Networks, sandbox.NetworkFull) {
		t.Errorf("%+v, networks %v", wall, caps.Networks)
	}
}

// What the first container has told of the kernel stays.
func TestRedirectionIsLearnedOnce(t *testing.T) {
	lacks := &outlet.NoRedirectError{Err: unix.ENOENT}
	var works, fails Runtime
	works.noteRedirection(redirectWorks, nil)
	works.noteRedirection(redirectAbsent, lacks)
	fails.noteRedirection(redirectAbsent, lacks)
	fails.noteRedirection(redirectWorks, nil)
	if !works.mayRedirect() || fails.mayRedirect() || !(&Runtime{}).mayRedirect() {
		t.Error("what was found out later has changed it")
	}
	step := func(name string, errno unix.Errno) error { return &spawn.StepError{Step: name, Errno: errno} }
	filter := socketStep(netns.FilterSocket())
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{step(filter, unix.EPROTONOSUPPORT), true},
		{step(filter, unix.EMFILE), false},
		{step(socketStep(netns.RouteSocket()), unix.EPROTONOSUPPORT), false},
		{errors.New("other"), false},
	} {
		var no *outlet.NoRedirectError
		if got := errors.As(withoutFilter(tc.err), &no); got != tc.want {
			t.Errorf("%v means that the kernel cannot redirect: %v", tc.err, got)
		}
	}
}

// A runtime tells truthfully what leads out.
func TestNetworkProbe(t *testing.T) {
	rt, _ := networked(t, Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	caps, err := rt.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost, sandbox.NetworkAllowlist, sandbox.NetworkFull}
	if !slices.Equal(caps.Networks, want) {
		t.Errorf("networks %v", caps.Networks)
	}
	noRoute, noNamespaces := errors.New("no route"), errors.New("no namespaces")
	for _, c := range []struct {
		full, out     error
		state, detail string
	}{
		{nil, nil, api.Enforced, "connections and names go through a relay"}, {noNamespaces, nil, api.Degraded, outsideNetwork},
		{nil, noRoute, api.Degraded, "nothing leads out: no route"}, {noNamespaces, noRoute, api.Degraded, "nothing leads out: no route"},
	} {
		if m := rt.networkWall(c.full, c.out); m.State != c.state || !strings.HasPrefix(m.Detail, c.detail) {
			t.Errorf("%+v", m)
		}
	}
}

// A name whose address is private, link-local or this host's own leads nowhere.
func TestNetworkRebinding(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	_, c := networked(t, Options{Resolver: relaytest.Names{"rebound.test": "127.0.0.1", "meta.test": "169.254.169.254", "good.test": "127.0.0.1"}},
		sandbox.NetworkPolicy{Allow: []string{"*.test", "127.0.0.1:" + port}})
	if got, _ := sandboxtest.Fetch(t, c, nil, "http://good.test:"+port); got != "hello good.test:"+port {
		t.Error(got)
	}
	for url, want := range map[string]string{
		"http://rebound.test:1/": "connection to rebound.test:1 refused: its address is this host's loopback",
		"http://meta.test/":      "connection to meta.test:80 refused: its address is the cloud's metadata service",
	} {
		if got, exit := sandboxtest.Fetch(t, c, nil, url); got != reset || len(exit.Violations) != 1 || !strings.Contains(exit.Violations[0], want) {
			t.Errorf("%s: %q, %q", url, got, exit.Violations)
		}
	}
}

// What the kernel refused is told once, at the end of the process that tried.
func TestNetworkTellsOnce(t *testing.T) {
	_, c := networked(t, Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	const attempt = "http://[2606:4700:4700::1111]/"
	_, exit := sandboxtest.Fetch(t, c, nil, attempt)
	if len(exit.Violations) == 0 {
		t.Skip("this kernel has no IPv6")
	}
	if want := []string{"tcp to [2606:4700:4700::1111]:80 refused: only TCP and name queries leave the sandbox"}; !slices.Equal(exit.Violations, want) {
		t.Errorf("%q", exit.Violations)
	}
	if _, exit := sandboxtest.Script(t, c, nil, "true"); len(exit.Violations) > 0 {
		t.Errorf("a program that has tried nothing: %q", exit.Violations)
	}
}

// Names that are not allowed are resolved where that was asked for, and told;
// what is allowed and fails is told as well.
func TestNetworkQueriesAndFailures(t *testing.T) {
	closed, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0) // nobody listens, and nobody else can
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(closed)
	if err := unix.Bind(closed, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(closed)
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(at.(*unix.SockaddrInet4).Port)
	_, c := networked(t, Options{Resolver: relaytest.Names{"other.test": "93.184.216.34"}}, sandbox.NetworkPolicy{Allow: []string{"localhost:" + port}, AllowDNS: true})
	got, exit := sandboxtest.Script(t, c, nil, "getent ahostsv4 other.test | head -1")
	if !strings.HasPrefix(got, "93.184.216.34") || !slices.Contains(exit.Network.Queries, "A other.test") || len(exit.Violations) > 0 {
		t.Errorf("%q, %+v", got, exit)
	}
	if got, exit = sandboxtest.Fetch(t, c, nil, "http://other.test"); got != reset || len(exit.Violations) != 1 {
		t.Errorf("%q, %q", got, exit.Violations)
	}
	if got, exit = sandboxtest.Fetch(t, c, nil, "http://host.docker.internal:"+port); got != reset || len(exit.Violations) > 0 || len(exit.Network.Failures) != 1 {
		t.Errorf("%q, %+v", got, exit)
	}
}

// The host's proxy is for those processes that are to use it.
func TestNetworkHostProxy(t *testing.T) {
	proxy := relaytest.NewProxy(t)
	policy := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"index.test:80"}, HostProxy: true}
	_, c := networked(t, Options{Resolver: relaytest.Names{}, Proxy: proxy.Choose}, policy)
	if got, exit := sandboxtest.Fetch(t, c, nil, "http://index.test/"); got != "proxy" {
		t.Errorf("%q, %+v", got, exit)
	}
	if got := <-proxy.Asked; got != "CONNECT index.test:80" {
		t.Errorf("the proxy was asked for %q", got)
	}
	policy.HostProxy = false
	if got, _ := sandboxtest.Fetch(t, c, &policy, "http://index.test/"); got != "gaierror" || len(proxy.Asked) > 0 {
		t.Errorf("without the proxy: %q", got)
	}
}

// Programs can tell whom they have reached: the certificates that this host
// trusts are there, and nobody changes them.
func TestNetworkTrust(t *testing.T) {
	const store = "/etc/ssl/certs"
	entries, err := os.ReadDir(store)
	if err != nil {
		t.Skip("this host keeps its certificates elsewhere")
	}
	rt, c := networked(t, Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	got, _ := sandboxtest.Script(t, c, nil, "ls -A "+store+" | wc -l; touch "+store+"/x 2>&1 | grep -o 'Read-only\\|Permission'; ls -A /etc/ssl")
	if lines := strings.Fields(got); len(lines) != 3 || lines[0] != fmt.Sprint(len(entries)) || lines[2] != "certs" {
		t.Errorf("%q, want %d certificates", got, len(entries))
	}
	none, _ := sandboxtest.Script(t, newClosed(t, rt), nil, "ls /etc/ssl; cat /etc/resolv.conf")
	if !strings.Contains(none, "No such file") || strings.Contains(none, "nameserver") {
		t.Errorf("without a network: %q", none)
	}
}

// Where there is a loopback the memory of its sockets is bounded, and no program
// changes that.
func TestNetworkSettings(t *testing.T) {
	rt, c := networked(t, Options{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	for _, c := range []sandbox.Container{c, newNetworked(t, rt, sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost})} {
		for _, s := range netns.Sysctls() {
			got, _ := sandboxtest.Script(t, c, nil, "cat "+s.Path+"; echo 1 >"+s.Path)
			if value, rest, _ := strings.Cut(got, "\n"); strings.Join(strings.Fields(value), " ") != s.Value || !strings.Contains(rest, "Read-only") {
				t.Errorf("%s: %q, want %q", s.Path, got, s.Value)
			}
		}
	}
}

// newClosed makes a container without a network.
func newClosed(t *testing.T, rt *Runtime) sandbox.Container {
	t.Helper()
	c, err := rt.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelFull, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Nothing of a network is left when its container is gone: no descriptor, which
// would keep the namespace, and no goroutine.
func TestNetworkLeavesNothing(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	for _, noRedirect := range []bool{false, true} {
		rt, first := networked(t, Options{NoRedirect: noRedirect}, sandbox.NetworkPolicy{Allow: []string{"localhost:" + port}})
		use := func(c sandbox.Container) {
			sandboxtest.Fetch(t, c, nil, "http://host.docker.internal:"+port)
			running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/no/such/program"}}); err == nil {
				t.Error("two programs at once")
			}
			if err := c.Delete(t.Context()); err != nil {
				t.Error(err)
			}
			running.Wait()
		}
		use(first)
		nothingMore := sandboxtest.NothingMore(t)
		for range 10 {
			c := newNetworked(t, rt, sandbox.NetworkPolicy{Allow: []string{"localhost:" + port}})
			if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/no/such/program"}}); err == nil {
				t.Error("a program that is not there was started")
			}
			wider := sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}
			if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}, Network: &wider}); err == nil {
				t.Error("a process has more than its container")
			}
			use(c)
		}
		nothingMore()
	}
}

// The same as an ordinary user, who has nothing but user namespaces.
func TestNetworkAsOrdinaryUser(t *testing.T) {
	asNobody(t, "^TestNetwork|^TestSupervise|^TestConformance$/^(full|restricted)$/(network|allow-list|loopback)", "TestConformance/restricted/no_network")
}

// asNobody runs tests of this binary again as an ordinary user. One of them must pass.
func asNobody(t *testing.T, run, must string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user's run already")
	}
	const nobody = 65534
	dir := t.TempDir()
	for _, open := range []string{dir, dir + "/.."} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.timeout=5m", "-test.skip=AsOrdinaryUser|FewCapabilities", "-test.run="+run)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "XDG_RUNTIME_DIR=" + dir}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{os.Stdin} // the spawner does not start where its own program would be descriptor 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	passed, skipped := strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP")
	t.Logf("%d passed, %d skipped", passed, skipped)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+must+" ") {
		t.Errorf("%v\n%s", err, out)
	}
}
