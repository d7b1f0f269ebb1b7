package oci_test

import (
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestInitPaysNothing: what a program leaves in memory as files, up to its limit, is
// read by init all the same; and where init itself is what the kernel finds to kill,
// that is the program's memory limit and no failure of ours.
func TestInitPaysNothing(t *testing.T) {
	rt := open(t, t.TempDir())
	defer rt.Close()
	big := spec
	big.Disk = sandbox.DiskLimit{Bytes: 256 << 20, Inodes: 100}
	c, err := rt.Create(t.Context(), big)
	if err != nil {
		t.Fatal(err)
	}
	run := func(script string) sandbox.Exit {
		t.Helper()
		running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Limits: sandbox.Limits{MemoryBytes: 32 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := running.Wait()
		if err != nil {
			t.Fatalf("%v after %+v", err, exit)
		}
		return exit
	}
	if exit := run("head -c 30m /dev/zero >big"); exit.Code != 0 || exit.OOMKills != 0 {
		t.Errorf("30 of 32 MiB: %+v", exit)
	}
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile("beside", strings.NewReader(strings.Repeat("x", 4<<20)), 0o644); err != nil {
		t.Errorf("init writes as little as the program might: %v", err)
	}
	// Nor does the next process pay for what lies there, and it gets no more by it.
	if exit := run("head -c 30m /dev/zero >more"); exit.Code != 0 || exit.OOMKills != 0 {
		t.Errorf("30 of 32 MiB, beside 34: %+v", exit)
	}
	if exit := run("cat /dev/zero >most"); exit.OOMKills == 0 {
		t.Errorf("more than the limit: %+v", exit)
	}
}
