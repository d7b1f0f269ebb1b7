package sandbox

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// caller is sandbox-run, run here or on a server.
type caller func(t *testing.T, args ...string) (stdout, stderr string, code int)

// callers are both, with packages of their own and the same settings.
func callers(t *testing.T, settings ...string) map[string]caller {
	t.Helper()
	s := started(t, append(settings, "SANDBOX_DATA_DIR="+t.TempDir())...)
	here := append(settings, "SANDBOX_DATA_DIR="+t.TempDir())
	return map[string]caller{
		"here": func(t *testing.T, args ...string) (stdout, stderr string, code int) {
			c := calling(t, args, here...)
			c.begin(t)
			code = c.code(t)
			return c.stdout.String(), c.stderr.String(), code
		},
		"on a server": func(t *testing.T, args ...string) (stdout, stderr string, code int) {
			return s.cli(t, "", args...)
		},
	}
}

// What --require and --requirements name is installed where the program runs.
func TestRequireFlags(t *testing.T) {
	needUV(t)
	from := newIndex(t, map[string][]byte{
		"demo_pkg-1.0-py3-none-any.whl": wheel(t, "demo_pkg", "answer = 42\ndef main(): pass\n"),
		"more-1.0-py3-none-any.whl":     wheel(t, "more", "answer = 7\ndef main(): pass\n"),
	})
	file := filepath.Join(t.TempDir(), "requirements.txt")
	if err := os.WriteFile(file, []byte("# what it needs\nmore == 1.0 # seven\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, run := range callers(t, "SANDBOX_PYTHON_INDEX="+from.URL+"/simple") {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				stdout, stderr, code := run(t, "--require", "Demo.Pkg", "--requirements", file, "--lang", "python", "--code", "import demo_pkg, more; print(demo_pkg.answer + more.answer)")
				if stdout != "49\n" || code != 0 {
					t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
				}
			}
			if len(from.took()) == 0 {
				t.Error("the index was not asked")
			}
			stdout, stderr, code := run(t, "--quiet", "--require", "absent", "--lang", "python", "--code", "print('ran')")
			if stdout != "" || code != 1 || !strings.Contains(stderr, "absent was not found") {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			for args, want := range map[string]string{
				"--require -rx --lang python":    "is an option",
				"--require demo-pkg --lang bash": "only those of Python can",
			} {
				stdout, stderr, code := run(t, append(strings.Fields(args), "--code", "echo ran")...)
				if stdout != "" || code != 2 || !strings.Contains(stderr, want) {
					t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
				}
			}
		})
	}
}

// An index that only the host's proxy can reach is asked through it, and programs
// have no part in that.
func TestRequireThroughProxy(t *testing.T) {
	needUV(t)
	from := newIndex(t, map[string][]byte{"demo_pkg-1.0-py3-none-any.whl": wheel(t, "demo_pkg", "answer = 42\ndef main(): pass\n")})
	var tunnels atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "index.test:80" {
			t.Errorf("the proxy is asked for %s %s", r.Method, r.Host)
			return
		}
		tunnels.Add(1)
		tunnel(t, w, from.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	settings := []string{"SANDBOX_PYTHON_INDEX=http://index.test/simple", "HTTP_PROXY=" + proxy.URL, "http_proxy=", "NO_PROXY=", "no_proxy="}
	for name, run := range callers(t, settings...) {
		t.Run(name, func(t *testing.T) {
			before := tunnels.Load()
			stdout, stderr, code := run(t, "--require", "demo-pkg", "--allow", "index.test:80", "--lang", "python", "--code", `
import demo_pkg, urllib.request
print(demo_pkg.answer)
try:
    print(urllib.request.urlopen("http://index.test/simple/", timeout=60).status)
except OSError:
    print("not through the proxy")`)
			if stdout != "42\nnot through the proxy\n" || code != 0 {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if tunnels.Load() == before {
				t.Error("the proxy was not asked")
			}
		})
	}
}

// tunnel answers a CONNECT and carries what follows.
func tunnel(t *testing.T, w http.ResponseWriter, to string) {
	upstream, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	defer upstream.Close()
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(upstream, buffered)
		upstream.Close()
	}()
	_, _ = io.Copy(conn, upstream)
}

// On a server the flags are the caller's, and private addresses its operator's.
func TestNetworkFlagsOnServer(t *testing.T) {
	t.Parallel()
	const code = "import socket\ntry: socket.create_connection(('169.254.169.254', 80)).recv(1)\nexcept OSError as e: print(type(e).__name__)"
	for args, want := range map[string]struct {
		stdout, stderr string
		code           int
	}{
		"--allow example.org":                {"ConnectionResetError\n", "── denied: connection to 169.254.169.254:80 refused", 0},
		"--network full":                     {"ConnectionResetError\n", "── denied: connection to 169.254.169.254:80 refused", 0},
		"--allow-dns":                        {"ConnectionResetError\n", "── denied: connection to 169.254.169.254:80 refused", 0},
		"":                                   {"OSError\n", "", 0},
		"--allow localhost:80":               {"", "localhost", 126},
		"--network full --allow 10.0.0.0/8":  {"", "10.0.0.0/8", 126},
		"--network none --allow example.org": {"", "reaches nothing outside", 2},
		"--allow http://example.org":         {"", "no URL", 2},
	} {
		stdout, stderr, code := shared.cli(t, "", append(strings.Fields(args), "--lang", "python", "--code", code)...)
		if stdout != want.stdout || code != want.code || !strings.Contains(stderr, want.stderr) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q, want %+v", args, code, stdout, stderr, want)
		}
	}
}
