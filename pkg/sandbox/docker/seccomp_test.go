package docker_test

import (
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestInitIsFiltered: the engine has our filter for the whole container, which result
// and doctor would say otherwise.
func TestInitIsFiltered(t *testing.T) {
	rt := open(t, *image)
	if *runtime != "" {
		t.Skip("of other OCI runtimes, some have a kernel of their own and take no filter")
	}
	c, err := rt.Create(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, warning := range c.Isolation().Warnings {
		if strings.Contains(warning, "seccomp") {
			t.Errorf("this engine takes none: %s", warning)
		}
	}
	engine, err := client.New(client.WithHost(*host))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	got, err := engine.ContainerInspect(t.Context(), c.ID(), client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	options := strings.Join(got.Container.HostConfig.SecurityOpt, "\n") // with Podman, where the file was
	if !strings.Contains(options, "seccomp=") {
		t.Errorf("the engine knows of no filter: %q", options)
	}
}
