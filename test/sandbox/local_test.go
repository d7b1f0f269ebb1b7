package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// socket is where the shared server must listen, unless there is no place for a socket, such as
// on a root to read. It skips where another server has it.
func socket(t *testing.T) (path string, place bool) {
	t.Helper()
	path = "/run/sandbox-run/sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); os.Geteuid() != 0 && dir != "" {
		path = filepath.Join(dir, "sandbox-run.sock")
	}
	if strings.Contains(shared.Logged(), "another server has it") {
		t.Skip("another server of this machine has the socket")
	}
	probe, err := os.CreateTemp(filepath.Dir(path), "probe-")
	if err == nil {
		probe.Close()
		err = os.Remove(probe.Name())
	}
	return path, err == nil
}

// runOver has a server run a program, over a socket and without a key.
func runOver(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Fatalf("%v %v", info, err)
	}
	over := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	defer over.CloseIdleConnections()
	resp, err := over.Post("http://any-name/execute", "application/json", strings.NewReader(`{"language":"bash","code":"echo over"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || decode[api.Result](t, body).Stdout != "over\n" {
		t.Errorf("status %d: %s %v", resp.StatusCode, body, err)
	}
}

// Programs of this machine talk to the server over its socket, without a key:
// the kernel says who they are.
func TestUnixSocket(t *testing.T) {
	path, place := socket(t)
	if !place {
		t.Skip("there is no place for a socket")
	}
	runOver(t, path)
}

// So it is where there are keys. Who calls is a tenant by the number of the user.
func TestUnixSocketNeedsNoKey(t *testing.T) {
	dir := t.TempDir()
	var as *syscall.Credential
	if os.Geteuid() == 0 { // who has one socket, which is the shared server's
		as = &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := errors.Join(os.Chown(dir, 65534, 65534), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	settings := []string{"XDG_RUNTIME_DIR=" + dir, "HOME=" + dir, "SANDBOX_DATA_DIR=" + filepath.Join(dir, "data")}
	server, err := testenv.Launch(binary, as, append(settings, "SANDBOX_API_KEY=an-operators-own-key")...)
	if err != nil {
		t.Fatal(err)
	}
	s := &instance{server}
	s.endsWith(t)
	s.execute(t, `{"language":"bash","code":"echo in"}`).problem(t, 401)
	runOver(t, filepath.Join(dir, "sandbox-run.sock"))
	usage := exec.Command(binary, "usage", "--json")
	usage.Dir, usage.Env, usage.SysProcAttr = "/", testenv.Environ(settings...), &syscall.SysProcAttr{Credential: as}
	if out, err := usage.Output(); err != nil || !strings.Contains(string(out), fmt.Sprintf(`"tenant": "uid:%d"`, os.Geteuid())) {
		t.Errorf("usage: %v %s", err, out)
	}
}

// systemd hears that the server is ready, that it lives and that it ends.
func TestSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	hear := func(want string) {
		t.Helper()
		_ = socket.SetReadDeadline(time.Now().Add(30 * time.Second))
		for buffer := make([]byte, 256); ; {
			n, err := socket.Read(buffer)
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			if string(buffer[:n]) == want {
				return
			}
		}
	}
	s, err := launch("NOTIFY_SOCKET="+path, "WATCHDOG_USEC=600000")
	if err != nil {
		t.Fatal(err)
	}
	hear("READY=1")
	hear("WATCHDOG=1")
	hear("WATCHDOG=1")
	ended := make(chan error, 1)
	go func() { ended <- s.Stop() }()
	hear("STOPPING=1")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	roots, err := testenv.SelfSigned(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := started(t, "SANDBOX_TLS_CERT="+cert, "SANDBOX_TLS_KEY="+key)
	plain := s.send(t, "GET", "/livez", nil)
	if plain.status == 200 {
		t.Error("it answers without TLS")
	}
	secure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer secure.CloseIdleConnections()
	resp, err := secure.Post(strings.Replace(s.URL, "http:", "https:", 1)+"/execute", "application/json", strings.NewReader(`{"code":"print(1)"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("status %d over %s", resp.StatusCode, resp.Proto)
	}
}

// The keys of a file are read anew on SIGHUP; a file with an error changes
// nothing.
func TestHangupReadsKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("- {key: the-first-key-of-all, tenant: a}\n")
	s := started(t, "SANDBOX_API_KEYS_FILE="+file, "SANDBOX_DATA_DIR="+t.TempDir())
	may := func(key string) bool {
		return s.execute(t, `{"code":"1"}`, "X-API-Key", key).status == 200
	}
	if !may("the-first-key-of-all") {
		t.Fatal("the first key does not work")
	}
	write("- {key: the-second-key-of-all, tenant: b}\n")
	s.hangUp(t)
	until(t, "the second key works", func() bool { return may("the-second-key-of-all") })
	if may("the-first-key-of-all") {
		t.Error("the first key still works")
	}
	write("- {key: short, tenant: b}\n")
	s.hangUp(t)
	until(t, "the error is told", func() bool { return strings.Contains(s.Logged(), "stay as they are") })
	if !may("the-second-key-of-all") {
		t.Error("a broken file took the keys away")
	}
	if r := s.run(t, api.Request{Code: "print(1)"}, "X-API-Key", "the-second-key-of-all"); !r.Success {
		t.Error(r.Message)
	}
}
