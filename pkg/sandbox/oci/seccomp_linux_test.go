package oci_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// TestInitIsFiltered: the first process of a container is under a filter, whether the
// runtime has compiled a profile or taken the program as it is.
func TestInitIsFiltered(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if c.Isolation().Mechanisms["kernel"] == api.Enforced {
		t.Skip("gVisor takes none: the calls of its containers are its own to answer")
	}
	first := regexp.MustCompile(`(?m)^NSpid:.*\s1$`)
	found := 0
	names, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range names {
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cgroup"))
		status, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(groups), c.ID()) || !first.Match(status) {
			continue
		}
		found++
		if !strings.Contains(string(status), "\nSeccomp:\t2\n") {
			t.Errorf("the container's init has no filter:\n%s", status)
		}
	}
	if found != 1 {
		t.Errorf("%d first processes of %s were found", found, c.ID())
	}
}
