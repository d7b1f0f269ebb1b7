package docker_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
	if bad := (*sandbox.ImageError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "the image localhost:1/no/such:image cannot be used: it is not here, and localhost:1 cannot be reached") || !strings.Contains(err.Error(), "docker load") {
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

// TestEngineDies: when the engine dies under a run, that is no fault of the program's
// and worth another try; what is left of it is removed, and the next run works.
func TestEngineDies(t *testing.T) {
	rt := open(t, *image)
	if *restart == "" {
		t.Skip("the Docker engine is not the test's to kill; make test-docker starts one that is")
	}
	engine := func(what string) {
		t.Helper()
		if out, err := exec.Command(*restart, what).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v: %s", *restart, what, err, out)
		}
	}
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	engine("kill")
	if _, err := running.Wait(); !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "cannot reach the Docker engine") {
		t.Errorf("the run ended with %v", err)
	}
	if err := c.Delete(t.Context()); err == nil {
		t.Error("a container was removed by an engine that is not there")
	}
	if _, err := rt.Create(t.Context(), spec); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a container was made by an engine that is not there: %v", err)
	}
	engine("start")
	removed, err := docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image})
	if err != nil {
		t.Error(err)
	}
	again, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	next, err := again.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := next.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
	if err := again.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	// What has just ended is left to its client for a minute, which lives and has tried.
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		left, err := exec.Command("docker", "--host", *host, "ps", "--all", "--quiet", "--filter", "label=sandbox-run").Output()
		if err != nil || len(left) > 0 && time.Now().After(deadline) {
			t.Fatalf("left: %q, %v; removed before: %q", left, err, removed)
		}
		if len(left) == 0 {
			break
		}
		if removed, err = docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image}); err != nil {
			t.Error(err)
		}
	}
}
