package oci

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestTighterCPUAbove: a process may be given more than what a group above the container's has,
// as where we are in a container with less than a core ourselves: the tighter one holds.
func TestTighterCPUAbove(t *testing.T) {
	e := &engine{b: &bundle{id: fmt.Sprintf("test-%d/below", os.Getpid()), host: lookAtHost()}}
	switch {
	case os.Geteuid() != 0:
		t.Skip("OCI runtimes are driven as root")
	case e.b.host.unified:
		t.Skip("version 2 takes every CPU limit, whatever is above it")
	}
	for _, controller := range []string{"memory", "cpu", "pids"} {
		below := filepath.Dir(e.b.groupFile(controller + "/tasks"))
		if err := os.MkdirAll(below, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for _, dir := range []string{below, filepath.Dir(below)} {
				if err := os.Remove(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	above := filepath.Join(groupRoot, "cpu", filepath.Dir(groupName(e.b.id)), "cpu.cfs_quota_us")
	if err := writeFile(above, "50000"); err != nil { // of 100 ms
		t.Fatal(err)
	}
	for _, limit := range []struct {
		cpus float64
		want string
	}{{0.1, "100000"}, {1, "-1"}, {0.2, "200000"}} {
		if err := e.setLimits(t.Context(), sandbox.Limits{CPUs: limit.cpus, MemoryBytes: 64 << 20, Processes: 10}); err != nil {
			t.Errorf("%g CPUs: %v", limit.cpus, err)
		}
		quota, err := os.ReadFile(e.b.groupFile(cpuQuotaV1))
		if got := strings.TrimSpace(string(quota)); err != nil || got != limit.want {
			t.Errorf("%g CPUs: quota %q, %v, want %s", limit.cpus, got, err, limit.want)
		}
		processes, err := os.ReadFile(e.b.groupFile("pids/pids.max"))
		if got := strings.TrimSpace(string(processes)); err != nil || got != "11" {
			t.Errorf("%g CPUs: %q processes, %v", limit.cpus, got, err)
		}
	}
}
