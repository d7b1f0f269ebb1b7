package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/engine"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

// world is an executor in this process, and a web server on the host's loopback
// that programs may reach as allowed.test.
type world struct {
	*executor.Executor
	*relaytest.Greeter
	level sandbox.Level
}

// eachLevel runs a test at every isolation that has networks.
func eachLevel(t *testing.T, test func(*testing.T, sandbox.Level)) {
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) { test(t, level) })
	}
}

// newWorld is the world in which names have the addresses of the book.
func newWorld(t *testing.T, level sandbox.Level, book relaytest.Names) *world {
	t.Helper()
	if inContainer != "" && level == sandbox.LevelFull {
		t.Skip("an unprivileged container has no isolation full")
	}
	if level == sandbox.LevelFull && os.Geteuid() != 0 && exec.Command("/usr/bin/unshare", "--user", "--net", "/bin/true").Run() != nil {
		t.Skip("ordinary users of this host have no namespaces")
	}
	w := &world{level: level, Greeter: relaytest.NewGreeter(t)}
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir(), Resolver: book})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := config.Default()
	cfg.DataDir = dataDir
	w.Executor = executor.New(rt, engine.Executor(cfg, rt.Name(), w.getenv, nil, nil))
	return w
}

// getenv leads to toolchains that programs with a user id of their own can reach.
func (w *world) getenv(name string) string {
	if w.level == sandbox.LevelRestricted && os.Geteuid() == 0 {
		switch name {
		case "PATH":
			return "/usr/local/bin:/usr/bin:/bin"
		case "HOME":
			return ""
		}
	}
	return os.Getenv(name)
}

// run runs a request with the network; the one of the world's server where it
// names none.
func (w *world) run(t *testing.T, req executor.Request) api.Result {
	t.Helper()
	req.Isolation = w.level
	req.Limits.WallTime = config.Default().Timeout * 3 // of a busy machine
	if !req.Network.Normal().LeadsOut() {
		req.Network = sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"allowed.test:" + w.Port, "localhost:" + w.Port}}
	}
	r, err := w.Run(t.Context(), req, nil)
	var input *executor.InputError
	if errors.As(err, &input) && (input.Kind == executor.InputUnknownLanguage || input.Kind == executor.InputNoToolchain) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// python runs a script with arguments.
func (w *world) python(t *testing.T, code string, args ...string) api.Result {
	t.Helper()
	return w.run(t, executor.Request{Language: "python", Code: []byte(code), Args: args})
}

// staticClient names a Go program without libc that fetches a URL.
const staticClient = "SANDBOX_TEST_STATIC_CLIENT"

const staticSource = `package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil { fmt.Println(err); return }
	io.Copy(os.Stdout, answer.Body)
}
`

func buildStatic(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(staticClient); path != "" {
		return path
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(staticSource), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", "client", "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no Go to build a client with: %v\n%s", err, out)
	}
	return filepath.Join(dir, "client")
}

const javaClient = `import java.net.URI;
import java.net.http.*;
class Main { public static void main(String[] args) throws Exception {
	var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(args[0])).build(), HttpResponse.BodyHandlers.ofString());
	System.out.print(answer.body());
} }
`

const sessionClient = `import http.client, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
session = http.client.HTTPConnection(url.netloc)
for _ in range(3):
    session.request("GET", url.path)
    body = session.getresponse().read().decode()
print(body, end="")
`

const socketClient = `import socket, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
with socket.create_connection((url.hostname, url.port)) as s:
    s.sendall(f"GET / HTTP/1.0\r\nHost: {url.netloc}\r\n\r\n".encode())
    print(s.makefile().read().split("\n\n")[-1], end="")
`

// Programs that know nothing of relays and proxies reach what is allowed, by
// libc's resolver and by their own, and nothing is held against them.
func TestNetworkClients(t *testing.T) { eachLevel(t, networkClients) }

func networkClients(t *testing.T, level sandbox.Level) {
	w := newWorld(t, level, relaytest.Names{"allowed.test": "127.0.0.1"})
	client, err := os.ReadFile(buildStatic(t))
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]executor.Request{
		"urllib":       {Language: "python", Code: []byte("import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode(), end='')")},
		"a session":    {Language: "python", Code: []byte(sessionClient)},
		"a socket":     {Language: "python", Code: []byte(socketClient)},
		"node's fetch": {Language: "javascript", Code: []byte("fetch(process.argv[2]).then(r => r.text()).then(t => process.stdout.write(t))")},
		"HttpClient":   {Language: "java", Code: []byte(javaClient)},
		"static Go":    {Language: "exec", Args: []string{"/workspace/client"}, Files: map[string]executor.InputFile{"client": {Content: client, Executable: true}}},
		"curl":         {Language: "exec", Args: []string{"/usr/bin/curl", "-sS", "--max-time", "60"}},
	}
	for name, req := range clients {
		for _, host := range []string{"allowed.test", "host.docker.internal"} {
			t.Run(name+" "+host, func(t *testing.T) {
				if name == "curl" {
					if _, err := os.Stat(req.Args[0]); err != nil {
						t.Skip("curl is not installed")
					}
				}
				before := w.Hits.Load()
				asked := req
				asked.Args = append(slices.Clone(req.Args), fmt.Sprintf("http://%s:%s/", host, w.Port))
				r := w.run(t, asked)
				if strings.Contains(r.Message, "private home") {
					t.Skip(r.Message)
				}
				if want := "hello " + host + ":" + w.Port; r.Stdout != want || r.Status != api.StatusOK {
					t.Fatalf("status %s, stdout %q, stderr %q, want %q; %s", r.Status, r.Stdout, r.Stderr, want, r.Message)
				}
				if m := r.Meta; len(m.Violations) > 0 || len(m.Network.Failures) > 0 || m.Network.Connections == 0 || w.Hits.Load() == before {
					t.Errorf("%+v", m)
				}
			})
		}
	}
}

// attempts are ways out that end nowhere. Each prints OK if it got somewhere.
var attempts = []struct {
	name, code string
	stdout     string // what is printed; empty is not compared
	violation  string // a part of the one line about it; empty means that the kernel refuses it without one
}{
	{"another port", `connect("allowed.test", 1)`, "ConnectionResetError\n", "connection to allowed.test:1 refused: the allow-list has other ports of it"},
	{"another name", `connect("denied.test", PORT)`, "gaierror\n", "name denied.test refused: it is not in the allow-list"},
	{"an address", `connect("93.184.216.34", 443)`, "ConnectionResetError\n", "connection to 93.184.216.34:443 refused: the address is not in the allow-list"},
	{"the cloud's secrets", `connect("169.254.169.254", 80)`, "ConnectionResetError\n", "connection to 169.254.169.254:80 refused: 169.254.169.254 is the cloud's metadata service, which gives out this machine's credentials"},
	{"link-local", `connect("169.254.1.1", 80)`, "ConnectionResetError\n", "connection to 169.254.1.1:80 refused: 169.254.1.1 is link-local"},
	{"a private network", `connect("10.0.0.1", PORT)`, "ConnectionResetError\n", "10.0.0.1 is in a private network"},
	{"an unused address for names", `connect("198.18.200.200", PORT)`, "ConnectionResetError\n", "no name has this address"},
	{"the host's loopback on another port", `connect("host.docker.internal", OTHER)`, "ConnectionResetError\n", "refused: its address is this host's loopback"},
	{"a name that leads to the host's loopback", `connect("rebound.test", OTHER)`, "ConnectionResetError\n", "refused: its address is this host's loopback"},
	{"a name that leads to the cloud's secrets", `connect("meta.test", 80)`, "ConnectionResetError\n", "connection to meta.test:80 refused: its address is the cloud's metadata service"},
	{"its own loopback", `connect("127.0.0.1", OTHER)`, "", ""},
	{"IPv4 in IPv6", `connect("::ffff:10.0.0.1", 22)`, "ConnectionResetError\n", "10.0.0.1 is in a private network"},
	{"IPv6", `connect("2606:4700:4700::1111", 443)`, "", "tcp to [2606:4700:4700::1111]:443 refused: only TCP and name queries leave the sandbox"},
	{"the loopback of IPv6", `connect("::1", PORT)`, "", ""},
	{"data in a name", `ask(1, "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0.t.denied.test")`, "code 5\n", "name c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0.t.denied.test refused"},
	{"data in a name below an allowed one", `ask(1, "c2VjcmV0.allowed.test")`, "code 5\n", "name c2VjcmV0.allowed.test refused"},
	{"a TXT record", `ask(16, "allowed.test")`, "code 5\n", "TXT query for allowed.test refused: only addresses of names are answered"},
	{"a transfer of a zone", `ask(252, "allowed.test")`, "code 5\n", "query for allowed.test refused"},
	{"a name server by IPv6", `ask(1, "allowed.test", "2001:4860:4860::8888")`, "", "[2001:4860:4860::8888]:53 refused"},
	{"a raw socket", `open(socket.AF_INET, socket.SOCK_RAW, 1)`, "PermissionError\n", "raw socket refused: only TCP and name queries leave the sandbox"},
	{"a raw packet", `open(17, socket.SOCK_RAW, 0)`, "PermissionError\n", "raw socket refused"},
	{"netlink", `open(16, socket.SOCK_RAW, 0)`, "OSError\n", ""},
	{"a hypervisor's socket", `open(40, socket.SOCK_STREAM, 0)`, "OSError\n", ""},
}

// onHost are the lines of attempts that reach nothing at full, where the loopback is
// the program's own.
var onHost = map[string]string{
	"its own loopback":     "refused: 127.0.0.1 is this host's loopback",
	"the loopback of IPv6": "refused: only TCP and name queries leave the sandbox",
}

const attempt = `import socket, struct, sys
PORT, OTHER = map(int, sys.argv[1:3])

def tell(e):
    print(type(e).__name__)

def connect(host, port):
    try:
        with socket.create_connection((host, port), timeout=60) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            print("OK" if s.recv(1) else "closed")
    except OSError as e:
        tell(e)

def ask(kind, name, server="8.8.8.8"):
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split("."))
    packet = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)
    try:
        with socket.create_connection((server, 53), timeout=60) as s:
            s.sendall(struct.pack(">H", len(packet)) + packet)
            answer = s.recv(1000)[2:]
        print("OK" if answer[3] & 15 == 0 else f"code {answer[3] & 15}")
    except OSError as e:
        tell(e)

def open(family, kind, protocol):
    try:
        socket.socket(family, kind, protocol)
        print("OK")
    except OSError as e:
        tell(e)

`

// Nothing that is not allowed reaches anything, each attempt fails, and each is a
// line of the result, unless the kernel refuses the very socket.
func TestNetworkAttempts(t *testing.T) { eachLevel(t, networkAttempts) }

func networkAttempts(t *testing.T, level sandbox.Level) {
	w := newWorld(t, level, relaytest.Names{"allowed.test": "127.0.0.1", "rebound.test": "127.0.0.1", "meta.test": "169.254.169.254"})
	other := newWorld(t, level, nil) // whose server nobody may reach
	network := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"allowed.test:" + w.Port, "localhost:" + w.Port, "rebound.test", "meta.test"}}
	for _, a := range attempts {
		if line := onHost[a.name]; line != "" && level == sandbox.LevelRestricted {
			a.violation = line
		}
		t.Run(a.name, func(t *testing.T) {
			r := w.run(t, executor.Request{Language: "python", Code: []byte(attempt + a.code), Args: []string{w.Port, other.Port}, Network: network})
			if r.Status != api.StatusOK || r.Stdout == "" || strings.Contains(r.Stdout, "OK") || a.stdout != "" && r.Stdout != a.stdout {
				t.Errorf("status %s, stdout %q, want %q; stderr %q", r.Status, r.Stdout, a.stdout, r.Stderr)
			}
			switch v := r.Meta.Violations; {
			case a.violation == "" && len(v) > 0:
				t.Errorf("violations %q", v)
			case a.violation != "" && (len(v) != 1 || !strings.Contains(v[0], a.violation)):
				t.Errorf("violations %q, want %q", v, a.violation)
			}
			if n := r.Meta.Network; n.Connections > 0 || n.Mode != "allowlist" {
				t.Errorf("%+v", n)
			}
		})
	}
	if w.Hits.Load()+other.Hits.Load() > 0 {
		t.Errorf("the servers were reached %d and %d times", w.Hits.Load(), other.Hits.Load())
	}
}

// UDP leaves nothing. Where no control group charges its queues there are no such
// sockets, which is not told; at restricted something else is in their place.
func TestNetworkUDP(t *testing.T) { eachLevel(t, networkUDP) }

func networkUDP(t *testing.T, level sandbox.Level) {
	w := newWorld(t, level, relaytest.Names{"allowed.test": "127.0.0.1"})
	r := w.python(t, `import socket
try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
except OSError as e:
    print("no sockets"); raise SystemExit
for address in ("93.184.216.34", 443), ("198.18.0.1", 123), ("169.254.169.254", 80):
    try:
        s.sendto(b"secret", address); print("sent")
    except OSError as e:
        print(e.errno)
`)
	want := map[string]int{"no sockets\n": 0, "1\n1\n1\n": 3}
	if level == sandbox.LevelRestricted {
		want = map[string]int{"sent\nsent\nsent\n": 1}
	}
	v := r.Meta.Violations
	if n, ok := want[r.Stdout]; !ok || len(v) != n || n > 0 && !strings.Contains(v[0], "refused: only TCP and name queries leave the sandbox") {
		t.Errorf("stdout %q, violations %q", r.Stdout, v)
	}
}

// Names that are not allowed resolve where that is asked for, each is told, and
// nothing can be connected to.
func TestNetworkAllowDNS(t *testing.T) { eachLevel(t, networkAllowDNS) }

func networkAllowDNS(t *testing.T, level sandbox.Level) {
	w := newWorld(t, level, relaytest.Names{"other.test": "93.184.216.34"})
	r := w.run(t, executor.Request{Language: "python", Network: sandbox.NetworkPolicy{AllowDNS: true}, Code: []byte(attempt + `
print(socket.gethostbyname("other.test")); connect("other.test", 80); ask(16, "other.test")`), Args: []string{"1", "1"}})
	if r.Stdout != "93.184.216.34\nConnectionResetError\ncode 5\n" {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
	n := r.Meta.Network
	if n.Mode != "allowlist" || !n.AllowDNS || len(n.Queries) == 0 || !strings.HasPrefix(n.Queries[0], "A other.test") || len(r.Meta.Violations) != 2 {
		t.Errorf("%+v, violations %q", n, r.Meta.Violations)
	}
}

// The flags open what they name, and what they do not is a line on our standard
// error.
func TestNetworkFlags(t *testing.T) {
	if doctor := sandboxRun(t, "doctor").stdout; !strings.Contains(doctor, "allowlist") {
		t.Skipf("no network of this host leads out:\n%s", doctor)
	}
	w, other := relaytest.NewGreeter(t), relaytest.NewGreeter(t)
	const denied = "── denied: "
	own, its := "host.docker.internal:"+w.Port, "host.docker.internal:"+other.Port
	for name, c := range map[string]struct {
		flags, to []string // where the program connects to, host and port
		stdout    string
		denied    []string
	}{
		"named":             {[]string{"--allow", "localhost:" + w.Port}, []string{own}, "hello " + own, nil},
		"two named":         {[]string{"--allow", "localhost:" + w.Port, "--allow=localhost:" + other.Port}, []string{own, its}, "hello " + own + "hello " + its, nil},
		"named beside full": {[]string{"--network", "full", "--allow", "127.0.0.0/8"}, []string{own}, "hello " + own, nil},
		"another port":      {[]string{"--network", "allowlist", "--allow", "localhost:" + w.Port}, []string{its}, "ConnectionResetError\n", []string{"connection to " + its + " refused: its address is this host's loopback"}},
		"nothing named":     {[]string{"--network", "allowlist"}, []string{own, "10.0.0.1:1"}, "gaierror\nConnectionResetError\n", []string{"name host.docker.internal refused", "10.0.0.1 is in a private network"}},
		"full":              {[]string{"--network", "full"}, []string{own, "169.254.169.254:80"}, "gaierror\nConnectionResetError\n", []string{"name host.docker.internal refused", "the cloud's metadata service, which gives out this machine's credentials"}},
		"names alone":       {[]string{"--allow-dns"}, []string{"93.184.216.34:80"}, "ConnectionResetError\n", []string{"the address is not in the allow-list"}},
		"none":              {nil, []string{own}, "gaierror\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--timeout", "100s", "--lang", "python", "--code", greeted}, c.flags...)
			o := sandboxRun(t, append(append(args, "--"), c.to...)...)
			if o.stdout != c.stdout || o.code != 0 {
				t.Errorf("exit %d, stdout %q, want %q; stderr %s", o.code, o.stdout, c.stdout, o.stderr)
			}
			if n := strings.Count(o.stderr, denied); n != len(c.denied) {
				t.Errorf("%d denials, want %d: %s", n, len(c.denied), o.stderr)
			}
			for i, line := range strings.Split(o.stderr, denied)[1:] {
				if i < len(c.denied) && !strings.Contains(line, c.denied[i]) {
					t.Errorf("denied: %s, want %s", line, c.denied[i])
				}
			}
		})
	}
}

// greeted prints the greetings of what it is given, host and port, or why there is
// none.
const greeted = `import socket, sys
for to in sys.argv[1:]:
    host, port = to.split(":")
    try:
        with socket.create_connection((host, int(port)), timeout=60) as s:
            s.sendall(f"GET / HTTP/1.0\r\nHost: {to}\r\n\r\n".encode())
            print(s.makefile().read().split("\n\n")[-1], end="")
    except OSError as e:
        print(type(e).__name__)
`

// What cannot be meant, or held, is one sentence, and nothing runs.
func TestNetworkFlagsRefused(t *testing.T) {
	for flags, want := range map[string]string{
		"--network none --allow example.org": "network none reaches nothing outside, so it has no allow-list; ask for network allowlist or full",
		"--network localhost --allow-dns":    "network localhost resolves no names; ask for network allowlist",
		"--allow http://example.org":         "write HOST or HOST:PORT and no URL",
		"--allow example.org:0":              "the port is a number from 1 to 65535",
		"--isolation none --network full":    "network full cannot be enforced here: nothing stands between the program and the host's network at isolation none",
	} {
		o := sandboxRun(t, append(strings.Fields(flags), "--lang", "python", "--code", "print('ran')")...)
		if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q, want %q", flags, o.code, o.stdout, o.stderr, want)
		}
	}
}

// The same as an ordinary user, who has nothing but user namespaces.
func TestNetworkAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" {
		t.Skip("this is an ordinary user's run already, or has one of its own")
	}
	u := ordinary(t)
	client := buildStatic(t)
	for dir := filepath.Dir(client); dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil && dir != os.TempDir() {
			t.Fatal(err)
		}
		if filepath.Dir(dir) == os.TempDir() {
			break
		}
	}
	home := filepath.Join(filepath.Dir(binary), "nobody")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.run=^TestNetwork", "-test.skip=AsOrdinaryUser|NetworkClients/restricted", "-test.timeout=10m")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "TMPDIR=" + home, "SANDBOX_TEST_BINARY=" + binary, staticClient + "=" + client, "SANDBOX_TEST_COVERDIR=" + os.Getenv("SANDBOX_TEST_COVERDIR")}, u.env...)
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{os.Stdin} // the spawner does not start where its own program would be descriptor 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	passed, skipped := strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP")
	t.Logf("%d passed, %d skipped", passed, skipped)
	if _, err := os.Stat("/usr/bin/python3"); err == nil && !strings.Contains(string(out), "--- PASS: TestNetworkUDP/restricted ") {
		t.Errorf("what needs nothing but Python did not pass:\n%s", out)
	}
}
