package docker

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostOf(t *testing.T) {
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
		"SSH":             {host: "ssh://u@there", err: "ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock u@there"},
		"a broken file":   {env: map[string]string{"DOCKER_CONFIG": filepath.Join(dir, "broken")}, err: "read the configuration of Docker: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hostOf(t.Context(), Options{Host: tc.host, Getenv: func(name string) string { return tc.env[name] }})
			if tc.err == "" && (err != nil || got != tc.want) {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
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
