package docker

import (
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestEndpointOf(t *testing.T) {
	dir := t.TempDir()
	const hashOfWork = "00e13ed7af55b27622f1d6eab5bec0147e68efe28dc2b12461117afa1a5ed40e" // printf work | sha256sum
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("config.json", `{"currentContext": "work"}`)
	write("contexts/meta/"+hashOfWork+"/meta.json", `{"Name": "work", "Endpoints": {"docker": {"Host": "tcp://there:1"}}}`)
	write("broken/config.json", `{`)
	write("lax/contexts/meta/"+hashOfWork+"/meta.json", `{"Endpoints": {"docker": {"Host": "tcp://there:1", "SkipTLSVerify": true}}}`)
	for name, tc := range map[string]struct {
		host string
		env  map[string]string
		want string
		err  string
	}{
		"asked for":       {host: "tcp://a:1", env: map[string]string{"DOCKER_HOST": "tcp://b:1"}, want: "tcp://a:1"},
		"DOCKER_HOST":     {env: map[string]string{"DOCKER_HOST": "tcp://b:1", "DOCKER_CONFIG": dir}, want: "tcp://b:1"},
		"current context": {env: map[string]string{"DOCKER_CONFIG": dir}, want: "tcp://there:1"},
		"DOCKER_CONTEXT":  {env: map[string]string{"DOCKER_CONFIG": t.TempDir(), "DOCKER_CONTEXT": "gone"}, err: `the Docker context "gone" names no engine`},
		"unchecked":       {env: map[string]string{"DOCKER_CONFIG": filepath.Join(dir, "lax"), "DOCKER_CONTEXT": "work"}, err: `the context "work" does not have its certificate checked`},
		"SSH":             {host: "ssh://u@there", err: "ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock u@there)"},
		"SSH elsewhere":   {env: map[string]string{"DOCKER_HOST": "ssh://u:secret@there:2222/run/user/7/docker.sock"}, err: "ssh -nNT -L /tmp/docker.sock:/run/user/7/docker.sock -p 2222 u@there)"},
		"a broken file":   {env: map[string]string{"DOCKER_CONFIG": filepath.Join(dir, "broken")}, err: "read the configuration of Docker: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := endpointOf(t.Context(), Options{Host: tc.host, Getenv: func(name string) string { return tc.env[name] }})
			if tc.err == "" && (err != nil || got.host != tc.want) {
				t.Errorf("%+v, %v, want %q", got, err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// TestSocketOf: the first socket where somebody answers, or else the first that is
// closed to this user.
func TestSocketOf(t *testing.T) {
	root, user := t.TempDir(), t.TempDir()
	if got := socketOf(t.Context(), root, user); got != "" {
		t.Errorf("there is no socket, and %q was found", got)
	}
	listen := func(name string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return name
	}
	// From the last that is tried to the first.
	for _, place := range []string{user + "/podman/podman.sock", root + "/run/podman/podman.sock", user + "/docker.sock", root + "/var/run/docker.sock"} {
		listen(place)
		if got := socketOf(t.Context(), root, user); got != "unix://"+place {
			t.Errorf("found %s, want %s", got, place)
		}
	}
	if os.Geteuid() == 0 {
		return // may use every socket
	}
	first := filepath.Join(root, "var/run/docker.sock")
	for _, closed := range []string{first, user + "/docker.sock", root + "/run/podman/podman.sock"} {
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := socketOf(t.Context(), root, user), "unix://"+user+"/podman/podman.sock"; got != want {
		t.Errorf("found %s, want %s, the one that is open", got, want)
	}
	if err := os.Chmod(user+"/podman/podman.sock", 0); err != nil {
		t.Fatal(err)
	}
	if got := socketOf(t.Context(), root, user); got != "unix://"+first {
		t.Errorf("found %s, want %s", got, first)
	}
}

// TestTLS: the certificates of a context, and those of the docker command's own directory,
// are what the connection is made with; without them the error says what is missing.
func TestTLS(t *testing.T) {
	engine := httptest.NewUnstartedServer(engineOf("29.9.0", "1.5.2"))
	engine.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	engine.StartTLS()
	t.Cleanup(engine.Close)
	host := "tcp://" + engine.Listener.Addr().String()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: engine.Certificate().Raw})
	const hashOfWork = "00e13ed7af55b27622f1d6eab5bec0147e68efe28dc2b12461117afa1a5ed40e"
	meta := fmt.Sprintf(`{"Endpoints": {"docker": {"Host": %q}}}`, host)
	for name, tc := range map[string]struct {
		files map[string]string
		env   map[string]string
		err   string
	}{
		"a context": {
			files: map[string]string{"contexts/meta/" + hashOfWork + "/meta.json": meta, "contexts/tls/" + hashOfWork + "/docker/ca.pem": string(ca)},
			env:   map[string]string{"DOCKER_CONTEXT": "work"},
		},
		"a context without certificates": {
			files: map[string]string{"contexts/meta/" + hashOfWork + "/meta.json": meta, "ca.pem": string(ca)},
			env:   map[string]string{"DOCKER_CONTEXT": "work", "DOCKER_TLS_VERIFY": "1"},
			err:   "DOCKER_CERT_PATH",
		},
		"the command's directory": {
			files: map[string]string{"ca.pem": string(ca)},
			env:   map[string]string{"DOCKER_HOST": host, "DOCKER_TLS_VERIFY": "1"},
		},
		"no certificates": {env: map[string]string{"DOCKER_HOST": host, "DOCKER_TLS_VERIFY": "1"}, err: "DOCKER_CERT_PATH"},
		"no TLS":          {env: map[string]string{"DOCKER_HOST": host}, err: "DOCKER_TLS_VERIFY=1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tc.files {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			rt, err := New(t.Context(), Options{Getenv: func(name string) string {
				if name == "DOCKER_CONFIG" {
					return dir
				}
				return tc.env[name]
			}})
			if err == nil {
				defer rt.Close()
			}
			if (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || errors.Is(err, syscall.EAGAIN)) {
				t.Errorf("%v, want %q", err, tc.err)
			}
		})
	}
}
