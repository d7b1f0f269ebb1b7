package docker_test

import (
	"flag"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// Which engine and image to test with; make test-docker starts one.
var (
	host    = flag.String("docker", "", "address of a Docker engine")
	image   = flag.String("image", "", "image with a shell and Python")
	restart = flag.String("restart", "", "a program that kills and restarts the Docker engine, with the argument kill or start")
	runtime = flag.String("docker-runtime", "", "OCI runtime of the engine")
)

func TestConformance(t *testing.T) {
	if *image == "" {
		t.Skip("no Docker engine with an image was named; make test-docker starts one")
	}
	sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, Image: true, Open: func(t *testing.T) sandbox.Runtime {
		rt, err := docker.New(t.Context(), docker.Options{Host: *host, Image: *image, Runtime: *runtime})
		if err != nil {
			t.Fatal(err)
		}
		return rt
	}})
}
