package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// listenVariable makes the test binary a server on the socket that it names.
const listenVariable = "CLIENT_TEST_SOCKET"

func TestMain(m *testing.M) {
	if path := os.Getenv(listenVariable); path != "" {
		if err := serveSocket(path, os.Stdin); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// serveSocket answers until its input ends, and says on standard output when it
// has begun.
func serveSocket(path string, until io.Reader) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, http.HandlerFunc(alive)) }()
	os.Stdout.Close()
	_, err = io.Copy(io.Discard, until)
	return err
}

func alive(w http.ResponseWriter, r *http.Request) {
	if r.Host != "localhost" { // anything else is foreign to a server on loopback
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`)
}

func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%20é.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(alive)}
	defer s.Close()
	go func() { _ = s.Serve(listener) }()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	url := client.SocketURL(path)
	if err := newClient(t, url, client.Options{}).Ping(t.Context()); err != nil {
		t.Errorf("%s: %v", url, err)
	}
}

func TestSocketOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir := t.TempDir()
	for _, open := range []string{filepath.Dir(dir), dir} { // to the others
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	self := filepath.Join(dir, "self")
	copyFile(t, "/proc/self/exe", self)
	for uid, trusted := range map[uint32]bool{0: true, 1: false, 65534: false} {
		path := filepath.Join(dir, "sock")
		server := exec.Command(self)
		server.Env = []string{listenVariable + "=" + path}
		server.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}
		stop, err := server.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		ready, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(ready)
		// The owner of the name says nothing.
		if err := os.Chown(path, 0, 0); err != nil {
			t.Fatal(err)
		}
		err = newClient(t, client.SocketURL(path), client.Options{Key: secret}).Ping(t.Context())
		if trusted != (err == nil) || !trusted && !errors.Is(err, client.ErrUntrusted) {
			t.Errorf("uid %d: %v, trusted: %v", uid, err, trusted)
		}
		stop.Close()
		if err := server.Wait(); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
