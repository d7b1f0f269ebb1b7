package docker_test

import (
	"bytes"
	"context"
	"errors"
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

// A limit of memory below the files that a container has is refused as such, and the next
// process may have one above.
func TestFilesAboveMemory(t *testing.T) {
	rt := open(t, *image)
	s := spec
	s.Disk, s.BuildDisk = sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 100}, sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 100}
	for _, dir := range []string{sandbox.BuildDir, sandbox.TempDir, "/dev/shm"} {
		c, err := rt.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Delete(context.WithoutCancel(t.Context())) })
		if c.Isolation().Limits[sandbox.LimitMemory] != "enforced" {
			t.Skip("no limit of memory is held here")
		}
		start := func(memory int64) error {
			running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", "head -c 48m /dev/zero >" + dir + "/big"}, Limits: sandbox.Limits{MemoryBytes: memory}})
			if err != nil {
				return err
			}
			_, err = running.Wait()
			return err
		}
		if err := start(256 << 20); err != nil {
			t.Fatal(err)
		}
		if err := start(16 << 20); !errors.As(err, new(*sandbox.UnsupportedError)) || !strings.Contains(err.Error(), "Ask for more memory") {
			t.Errorf("below what is in %s: %v", dir, err)
		}
		if err := start(256 << 20); err != nil {
			t.Errorf("above it: %v", err)
		}
	}
}
