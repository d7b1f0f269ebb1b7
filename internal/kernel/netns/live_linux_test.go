package netns_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
)

// connected is a room with a relay.
type connected struct {
	*room
	relay  *relay.Relay
	filter *os.File
}

// connect furnishes a room with a relay. Without ports connections are
// redirected; with some, there are listeners on these alone.
func connect(t testing.TB, config relay.Config, ports ...uint16) connected {
	t.Helper()
	sockets := append([]netns.Socket{netns.RouteSocket(), netns.FilterSocket()}, netns.ListenSockets(ports...)...)
	r := newRoom(t, sockets...)
	if err := netns.RouteAll(r.files[0]); err != nil {
		t.Fatal(err)
	}
	return serve(t, r, config, len(ports) == 0)
}

// serve has a relay serve a room whose sockets are those of connect.
func serve(t testing.TB, r *room, config relay.Config, redirect bool) connected {
	t.Helper()
	if redirect {
		mustRedirect(t, r.files[1])
	}
	c := connected{r, relay.New(t.Context(), config), r.files[1]}
	t.Cleanup(c.relay.Close)
	udp, err := netns.UDPConn(r.files[2])
	if err != nil {
		t.Fatal(err)
	}
	c.relay.ServeUDP(udp)
	for _, f := range r.files[3:] {
		l, err := netns.Listener(f)
		if err != nil {
			t.Fatal(err)
		}
		c.relay.Serve(l)
	}
	return c
}

// mustRedirect loads the rules, or skips where this kernel has not got them or does not let us.
func mustRedirect(t testing.TB, filter *os.File) {
	t.Helper()
	err := netns.Redirect(filter)
	for _, lacks := range []unix.Errno{unix.ENOENT, unix.EPROTONOSUPPORT, unix.EOPNOTSUPP, unix.EPERM} {
		if errors.Is(err, lacks) {
			t.Skipf("needs nftables with tproxy: %v", err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func policy(t testing.TB, rules relay.Rules) *relay.Policy {
	t.Helper()
	p, err := relay.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// allowed is the policy in which a greeter has a name.
func allowed(t testing.TB, port string) relay.Config {
	return relay.Config{
		Policy:   policy(t, relay.Rules{Allow: []string{"allowed.test:" + port, "127.0.0.1:" + port}}),
		Resolver: relaytest.Names{"allowed.test": "127.0.0.1"},
	}
}

// clients are programs that know nothing of proxies.
var clients = []struct {
	name string
	args func(url string) []string
}{
	{"curl", func(url string) []string { return []string{"/usr/bin/curl", "-sS", "--max-time", "20", url} }},
	{"python", func(url string) []string {
		return []string{"/usr/bin/python3", "-c", "import sys,urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode(),end='')", url}
	}},
	{"node", func(url string) []string {
		return []string{"/usr/bin/node", "-e", "fetch(process.argv[1]).then(r=>r.text()).then(t=>process.stdout.write(t))", url}
	}},
	{"java", func(url string) []string {
		return []string{"/usr/bin/java", "-Xmx64m", javaClient, url}
	}},
}

// javaClient is a source file that the JVM runs as it is.
const javaClient = "/tmp/Get.java"

const javaSource = `import java.net.*; import java.net.http.*;
class Get { public static void main(String[] a) throws Exception {
	System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString()).body());
} }
`

func TestClients(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	c := connect(t, allowed(t, port))
	url := "http://allowed.test:" + port + "/"
	want := "hello allowed.test:" + port
	if got := c.do("get", url); got != want {
		t.Errorf("Go: %q", got)
	}
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			args := client.args(url)
			if _, err := os.Stat(args[0]); err != nil {
				t.Skipf("%s is not installed", client.name)
			}
			if i := slices.Index(args, javaClient); i > 0 {
				args[i] = writeJava(t)
			}
			if got, err := c.run([]string{"LANG=C.UTF-8"}, args...); got != want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	report := c.relay.Report()
	if len(report.Violations) > 0 || len(report.Failures) > 0 || report.Connections == 0 {
		t.Errorf("%+v", report)
	}
	mustRefuse(t, c.filter)
}

func writeJava(t *testing.T) string {
	dir := t.TempDir()
	os.Chmod(dir, 0o755)
	os.Chmod(dir+"/..", 0o755)
	if err := os.WriteFile(dir+"/Get.java", []byte(javaSource), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir + "/Get.java"
}

// mustRefuse holds what the rules have refused against what is wanted.
func mustRefuse(t *testing.T, filter *os.File, want ...string) {
	t.Helper()
	list, err := netns.Refused(filter)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, r.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("refused %q, want %q", got, want)
	}
}

// Nothing that is not allowed reaches anything, each attempt fails soon, and
// each is told.
func TestRefused(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	config := allowed(t, port)
	config.Resolver = relaytest.Names{"allowed.test": "127.0.0.1", "rebound.test": "127.0.0.1", "private.test": "10.0.0.1 fd00::1"}
	config.Policy = policy(t, relay.Rules{Allow: []string{"allowed.test:" + port, "rebound.test", "private.test", "169.254.0.0/16:81"}})
	c := connect(t, config)
	for _, a := range []struct {
		deed      []string
		want      string
		violation string
	}{
		{[]string{"get", "http://denied.test/"}, "server misbehaving", "name denied.test refused: it is not in the allow-list"},
		{[]string{"get", "http://rebound.test:" + port}, "ECONNRESET", "connection to rebound.test:" + port + " refused: its address is this host's loopback"},
		{[]string{"get", "http://allowed.test:" + port}, "ECONNRESET", "connection to allowed.test:" + port + " refused: its address is this host's loopback"},
		{[]string{"get", "http://private.test"}, "ECONNRESET", "connection to private.test:80 refused: its address is in a private network"},
		{[]string{"get", "http://allowed.test:81"}, "ECONNRESET", "connection to allowed.test:81 refused: the allow-list has other ports of it"},
		{[]string{"dial", "tcp", "93.184.216.34:443"}, "ECONNRESET", "connection to 93.184.216.34:443 refused: the address is not in the allow-list"},
		{[]string{"dial", "tcp", "169.254.169.254:80"}, "ECONNRESET", "connection to 169.254.169.254:80 refused: 169.254.169.254 is the cloud's metadata service, which gives out this machine's credentials"},
		{[]string{"dial", "tcp", "169.254.169.254:81"}, "ECONNRESET", "connection to 169.254.169.254:81 refused: 169.254.169.254 is the cloud's metadata service"},
		{[]string{"dial", "tcp", "[::ffff:10.0.0.1]:22"}, "ECONNRESET", "connection to 10.0.0.1:22 refused: 10.0.0.1 is in a private network"},
		{[]string{"dial", "tcp", "198.18.99.99:80"}, "ECONNRESET", "connection to 198.18.99.99:80 refused: no name has this address"},
		{[]string{"ask", "udp", "8.8.8.8:53", "1", "c2VjcmV0.t.test"}, "Refused", "name c2VjcmV0.t.test refused: it is not in the allow-list"},
		{[]string{"ask", "tcp", "1.1.1.1:53", "1", "stream.t.test"}, "Refused", "name stream.t.test refused"},
		{[]string{"ask", "udp", "8.8.8.8:53", "16", "allowed.test"}, "Refused", "TXT query for allowed.test refused"},
		{[]string{"ask", "udp", "127.0.0.1:53", "1", "evil\x1b[2J\n.test"}, "Refused", `name "evil\x1b[2J\n.test" refused: it is not a host name`},
	} {
		t.Run(strings.Join(a.deed, " "), func(t *testing.T) {
			if got := c.do(a.deed...); !strings.Contains(got, a.want) {
				t.Errorf("the program sees %q, want %q", got, a.want)
			}
			violations := c.relay.Report().Violations
			if len(violations) != 1 || !strings.Contains(violations[0], a.violation) {
				t.Errorf("violations %q, want %q", violations, a.violation)
			}
		})
	}
	if report := c.relay.Report(); report.Connections > 0 {
		t.Errorf("%+v", report)
	}
	mustRefuse(t, c.filter)
}

// What is no TCP over IPv4 is refused by the rules, and remembered by them.
func TestRefusedPackets(t *testing.T) {
	c := connect(t, relay.Config{Policy: policy(t, relay.Rules{Full: true}), Resolver: relaytest.Names{}})
	for _, a := range []struct{ deed, want string }{
		{"udp 8.8.8.8:443", "EPERM"},
		{"udp 8.8.8.8:443", "EPERM"}, // remembered once
		{"udp 198.18.0.1:123", "EPERM"},
		{"udp 224.0.0.251:5353", "EINVAL"}, // there is no address to send it from
		{"udp [2001:4860:4860::8888]:53", "EPERM"},
		{"dial tcp [2606:4700:4700::1111]:443", "ECONNREFUSED"},
		{"socket 2 2 1", "EACCES"},   // ICMP echo
		{"socket 2 3 1", "EPERM"},    // raw ICMP
		{"socket 17 3 0", "EPERM"},   // raw packets
		{"route", "lo is downEPERM"}, // the loopback is not the program's
	} {
		if got := c.do(strings.Fields(a.deed)...); got != a.want {
			t.Errorf("%s: %q, want %q", a.deed, got, a.want)
		}
	}
	mustRefuse(t, c.filter, "udp to 8.8.8.8:443", "udp to 198.18.0.1:123",
		"udp to [2001:4860:4860::8888]:53", "tcp to [2606:4700:4700::1111]:443")
}

// The kernel keeps so many refused destinations and no more.
func TestRefusedIsBounded(t *testing.T) {
	c := connect(t, relay.Config{Policy: policy(t, relay.Rules{}), Resolver: relaytest.Names{}})
	for i := range 100 {
		if got := c.do("udp", "8.8.8.8:"+strconv.Itoa(1000+i)); got != "EPERM" {
			t.Fatal(got)
		}
	}
	list, err := netns.Refused(c.filter)
	if err != nil || len(list) != 64 {
		t.Errorf("%d refused, %v", len(list), err)
	}
}

func TestNameServer(t *testing.T) {
	c := connect(t, relay.Config{
		Policy:   policy(t, relay.Rules{Allow: []string{"*.test"}}),
		Resolver: relaytest.Names{"a.test": "93.184.216.34", "b.test": "93.184.216.35"},
	})
	for _, a := range []struct{ deed, want string }{
		{"udp 198.18.0.1:53 1 a.test", "Success 198.18.0.2"},
		{"udp 198.18.0.1:53 1 b.test", "Success 198.18.0.3"},
		{"udp 8.8.8.8:53 1 A.Test", "Success 198.18.0.2"},
		{"udp 127.0.0.1:53 1 a.test", "Success 198.18.0.2"},
		{"udp 8.8.8.8:53 1 a.test 127.0.0.1", "Success 198.18.0.2"}, // the answer comes from 8.8.8.8
		{"tcp 8.8.8.8:53 1 a.test", "Success 198.18.0.2"},
		{"tcp 127.0.0.1:53 1 a.test", "Success 198.18.0.2"},
		{"udp 8.8.8.8:53 28 a.test", "Success"},
		{"udp 8.8.8.8:53 65 a.test", "Success"},
		{"udp 8.8.8.8:53 1 missing.test", "NameError"},
		{"udp 8.8.8.8:53 1 localhost", "Success 127.0.0.1"},
	} {
		if got := c.do(append([]string{"ask"}, strings.Fields(a.deed)...)...); got != a.want {
			t.Errorf("%s: %q, want %q", a.deed, got, a.want)
		}
	}
	if report := c.relay.Report(); len(report.Violations) > 0 {
		t.Errorf("%+v", report)
	}
}

// A program's own servers are its own, on every port but one.
func TestLoopback(t *testing.T) {
	c := connect(t, relay.Config{Policy: policy(t, relay.Rules{})})
	for _, address := range []string{"127.0.0.1:0", "127.0.0.1:80", "127.1.2.3:8080", "[::1]:443", ":1"} {
		if got := c.do("loopback", address); got != "hello hello" {
			t.Errorf("%s: %q", address, got)
		}
	}
	if got := c.do("loopback", "127.0.0.1:53"); got != "EADDRINUSE" {
		t.Errorf("the name server's port: %q", got)
	}
	// The host's server is not on this loopback.
	if got := c.do("dial", "tcp", "127.0.0.1:"+relaytest.NewGreeter(t).Port); got != "ECONNREFUSED" {
		t.Errorf("the host's loopback: %q", got)
	}
	if report := c.relay.Report(); len(report.Violations) > 0 {
		t.Errorf("%+v", report)
	}
	mustRefuse(t, c.filter)
}

// What connections hold is counted when nobody has accepted them and their other end
// is closed.
func TestTCPBytes(t *testing.T) {
	for family, host := range map[int]string{unix.AF_INET: "127.0.0.1", unix.AF_INET6: "::1"} {
		r := newRoom(t, netns.RouteSocket(), netns.CountSocket(),
			netns.Socket{Name: "a listener", Family: family, Type: unix.SOCK_STREAM, Backlog: 512})
		l, err := netns.Listener(r.files[2]) // at a port that the kernel has chosen
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		address := net.JoinHostPort(host, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
		if err := netns.RouteAll(r.files[0]); err != nil {
			t.Fatal(err)
		}
		before, err := netns.TCPBytes(r.files[1])
		if errors.Is(err, unix.ENOENT) {
			t.Skip("this kernel does not tell of TCP sockets")
		}
		if err != nil || before > 64<<10 {
			t.Fatalf("before: %d bytes, %v", before, err)
		}
		const n = 40
		if got := r.do("fill", address, fmt.Sprint(n)); got != "full" {
			t.Fatal(got)
		}
		if after, err := netns.TCPBytes(r.files[1]); err != nil || after < n*64<<10 || after > 2*n*256<<10 {
			t.Errorf("%d connections to %s hold %d bytes, %v", n, address, after, err)
		}
	}
}

// This host's loopback has a name where the policy opens it.
func TestHostName(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	c := connect(t, relay.Config{Policy: policy(t, relay.Rules{Allow: []string{"localhost:" + port}}), Resolver: relaytest.Names{}})
	if got := c.do("get", "http://host.docker.internal:"+port); got != "hello host.docker.internal:"+port {
		t.Error(got)
	}
	// The client may have met the reset while it had nothing to read yet.
	if got := c.do("get", "http://host.docker.internal:1"); !strings.Contains(got, "ECONNRESET") && !strings.Contains(got, "EOF") {
		t.Error(got)
	}
	if report := c.relay.Report(); len(report.Violations) != 1 || !strings.Contains(report.Violations[0], "internal:1 refused: its address is this host's loopback") {
		t.Errorf("%+v", report)
	}
}

// Without nftables there are listeners on chosen ports, and the kernel refuses
// the others.
func TestWithoutRedirect(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	n, _ := strconv.Atoi(port)
	c := connect(t, allowed(t, port), uint16(n), 81)
	if got := c.do("get", "http://allowed.test:"+port); got != "hello allowed.test:"+port {
		t.Error(got)
	}
	if got := c.do("dial", "tcp", "93.184.216.34:81"); !strings.Contains(got, "ECONNRESET") {
		t.Errorf("a listener's port: %q", got)
	}
	if got := c.do("dial", "tcp", "93.184.216.34:82"); got != "ECONNREFUSED" {
		t.Errorf("another port: %q", got)
	}
	if got := c.do("udp", "8.8.8.8:443"); got != "0 bytes ECONNREFUSED" {
		t.Errorf("UDP: %q", got)
	}
	if report := c.relay.Report(); len(report.Violations) != 1 || !strings.Contains(report.Violations[0], "93.184.216.34:81 refused") {
		t.Errorf("%+v", report)
	}
}

// Settings of the host that its namespaces begin with.
func TestHostSettings(t *testing.T) {
	r := newRoomWith(t, []netns.Sysctl{
		{Path: "/proc/sys/net/ipv4/conf/all/rp_filter", Value: "1"},
		{Path: "/proc/sys/net/ipv4/conf/lo/rp_filter", Value: "1"},
		{Path: "/proc/sys/net/ipv6/conf/all/disable_ipv6", Value: "1"},
	}, append([]netns.Socket{netns.RouteSocket(), netns.FilterSocket()}, netns.ListenSockets()...)...)
	if err := netns.RouteAll(r.files[0]); err != nil {
		t.Fatal(err)
	}
	port := relaytest.NewGreeter(t).Port
	c := serve(t, r, allowed(t, port), true)
	if got := c.do("get", "http://allowed.test:"+port); got != "hello allowed.test:"+port {
		t.Error(got)
	}
	if got := c.do("dial", "tcp", "[2606:4700:4700::1111]:443"); got != "EADDRNOTAVAIL" && got != "ENETUNREACH" {
		t.Errorf("IPv6, which is switched off: %q", got)
	}
	for _, s := range netns.Sysctls() {
		if got := c.do("read", s.Path); strings.Join(strings.Fields(got), " ") != s.Value {
			t.Errorf("%s is %q, want %q", s.Path, got, s.Value)
		}
	}
}

// An error names the step, and a second set of rules is one.
func TestStepError(t *testing.T) {
	r := newRoom(t, netns.RouteSocket(), netns.FilterSocket())
	if err := netns.RouteAll(r.files[0]); err != nil {
		t.Error(err)
	}
	if err := netns.RouteAll(r.files[0]); err == nil || err.Error() != "route every IPv4 address to lo: file exists" {
		t.Error(err)
	}
	mustRedirect(t, r.files[1])
	if err := netns.Redirect(r.files[1]); err == nil || err.Error() != "nftables table: file exists" {
		t.Error(err)
	}
	if _, err := netns.Refused(r.files[0]); err == nil {
		t.Error("the socket for routes lists what nftables refused")
	}
}

// The whole suite once more as an ordinary user, who has nothing but user
// namespaces.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user's run already")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o777)
	os.Chmod(dir+"/..", 0o755)
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.skip=AsOrdinaryUser|Bench", "-test.timeout=5m")
	cmd.Env = append(coverage(t), "PATH=/usr/bin:/bin", "TMPDIR="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	passed, skipped := strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP")
	t.Logf("%d passed, %d skipped", passed, skipped)
	if needs := strings.Contains(string(out), "needs "); !needs && !strings.Contains(string(out), "--- PASS: TestRefused ") {
		t.Errorf("nothing is missing, and TestRefused did not pass:\n%s", out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "needs ") || strings.Contains(line, "not installed") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
