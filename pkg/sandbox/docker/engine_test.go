package docker_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

// TestNoEngine: nobody there is one sentence that says what to do, and worth
// another try.
func TestNoEngine(t *testing.T) {
	_, err := docker.New(t.Context(), docker.Options{Host: "unix://" + filepath.Join(t.TempDir(), "docker.sock")})
	if err == nil || !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "cannot reach the Docker engine at unix:///") || !strings.Contains(err.Error(), "systemctl start docker") {
		t.Errorf("%v", err)
	}
}

func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may use every socket")
	}
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(filepath.Join(dir, "docker.sock"), 0); err != nil {
		t.Fatal(err)
	}
	_, err = docker.New(t.Context(), docker.Options{Host: "unix://" + filepath.Join(dir, "docker.sock")})
	if err == nil || errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "group docker") {
		t.Errorf("%v", err)
	}
}

// open connects to the engine that the tests have.
func open(t *testing.T, ref string) *docker.Runtime {
	t.Helper()
	if *image == "" {
		t.Skip("no Docker engine with an image was named; make test-docker starts one")
	}
	rt, err := docker.New(t.Context(), docker.Options{Host: *host, Image: ref, Runtime: *runtime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

var spec = sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}}

// TestNoImage: an image that is not there, and cannot be had, is named with the
// command that gets it.
func TestNoImage(t *testing.T) {
	_, err := open(t, "localhost:1/no/such:image").Create(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "cannot get the image localhost:1/no/such:image") || !strings.Contains(err.Error(), "docker pull localhost:1/no/such:image") {
		t.Errorf("%v", err)
	}
}

// TestRefuses: what its containers cannot hold is refused before any is made.
func TestRefuses(t *testing.T) {
	rt := open(t, *image)
	for name, change := range map[string]func(*sandbox.Spec){
		"isolation restricted":      func(s *sandbox.Spec) { s.Level = sandbox.LevelRestricted },
		"isolation none":            func(s *sandbox.Spec) { s.Level = sandbox.LevelNone },
		"a workspace on disk":       func(s *sandbox.Spec) { s.WorkspaceOnDisk = true },
		"network full":              func(s *sandbox.Spec) { s.Network.Mode = sandbox.NetworkFull },
		"a mount of /etc":           func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: "/etc"}} },
		"a container needs a disk ": func(s *sandbox.Spec) { s.Disk.Inodes = 0 },
	} {
		s := spec
		change(&s)
		if _, err := rt.Create(t.Context(), s); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
