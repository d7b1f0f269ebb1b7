package oci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// TestMountsTellNothing: what /proc tells of mounts names no directory of ours and no
// block device, whatever is mounted; but for directories of the caller's that programs
// are to write, and control groups are no mount at all.
func TestMountsTellNothing(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		images := sandboxtest.Images(t)
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("of the host\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, image := range []string{"", sandboxtest.HostImage} {
			rt := open(t, images)
			full := spec
			full.Image, full.BuildDisk = image, spec.Disk
			full.Mounts = []sandbox.Mount{
				{Source: file, Target: "/mnt/file"}, {Target: "/opt"}, {Source: "/etc/alternatives", Target: "/mnt/dir"}, {Source: "/etc/alternatives", Target: "/mnt/layer", Overlay: true},
			}
			c, err := rt.Create(t.Context(), full)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := sh(t, c, nil, "cat /mnt/file; (echo x >/mnt/file) 2>/dev/null && echo written; ls /opt")
			if got != "of the host\n" {
				t.Errorf("the file and an empty directory: %q", got)
			}
			mounts, _ := sh(t, c, nil, "cat /proc/self/mountinfo")
			for line := range strings.Lines(mounts) {
				device := strings.Fields(line)[2]
				if !strings.HasPrefix(device, "0:") || strings.Contains(line, instanceOf(c.ID())) || strings.Contains(line, images) || strings.Contains(line, " - cgroup") {
					t.Errorf("image %q: %s", image, line)
				}
			}
			if !strings.Contains(mounts, " /mnt/layer ") {
				t.Errorf("not all mounts are told of: %s", mounts)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
