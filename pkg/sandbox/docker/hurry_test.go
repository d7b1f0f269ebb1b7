package docker_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

// The CPU limit is taken away from those who are killed, and the next process has its
// own, which is the same.
func TestQuotaComesBack(t *testing.T) {
	if *image == "" {
		t.Skip("no Docker engine with an image was named; make test-docker starts one")
	}
	rt, err := docker.New(t.Context(), docker.Options{Host: *host, Image: *image, Runtime: *runtime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	c, err := rt.Create(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Isolation().Limits[sandbox.LimitCPUs] != "enforced" {
		t.Skip("no CPU limit is held here")
	}
	limits := sandbox.Limits{CPUs: 0.5}
	for range 2 {
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		if err := running.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := running.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", "cd /sys/fs/cgroup; cat cpu.max || cat cpu/cpu.cfs_quota_us"}, Limits: limits, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.Wait(); err != nil || !strings.HasPrefix(out.String(), "500000") {
		t.Errorf("quota %q, %v", out.String(), err)
	}
}
