package docker_test

import (
	"flag"
	"os"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// Which engine and image to test with: scripts/test.sh and make test-docker start one.
var (
	host    = flag.String("docker", os.Getenv("SANDBOX_TEST_ENGINE"), "address of a Docker engine")
	image   = flag.String("image", os.Getenv("SANDBOX_TEST_ENGINE_IMAGE"), "image with a shell and Python")
	restart = flag.String("restart", "", "a program that kills and restarts the Docker engine, with the argument kill or start")
	runtime = flag.String("docker-runtime", "", "OCI runtime of the engine")
	small   = flag.String("small-engine", "", "address of a Docker engine whose disk holds 64 MiB")

	// Podman pulls without TLS from registries alone that its configuration names.
	registryAddress = flag.String("registry", "127.0.0.1:0", "where a test's registry listens that the engine may use without TLS")
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
