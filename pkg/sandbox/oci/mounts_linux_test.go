package oci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/rootfs"
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
			t.Cleanup(func() {
				if err := rt.Close(); err != nil {
					t.Error(err)
				}
			})
			full := spec
			full.Image, full.BuildDisk = image, spec.Disk
			full.Mounts = []sandbox.Mount{
				{Source: file, Target: "/mnt/file"}, {Target: "/opt"}, {Source: "/etc/alternatives", Target: "/mnt/dir"}, {Source: filepath.Dir(file), Target: "/mnt/layer", Overlay: true},
			}
			c, err := rt.Create(t.Context(), full)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := sandboxtest.Script(t, c, nil, "cat /mnt/file; (echo x >/mnt/file) 2>/dev/null && echo written; cd /opt && echo *")
			if got != "of the host\n*\n" {
				t.Errorf("the file and an empty directory: %q", got)
			}
			mounts, _ := sandboxtest.Script(t, c, nil, "cat /proc/self/mountinfo")
			for line := range strings.Lines(mounts) {
				device := strings.Fields(line)[2]
				if !strings.HasPrefix(device, "0:") || strings.Contains(line, instanceOf(c.ID())) || strings.Contains(line, images) || strings.Contains(line, " - cgroup") {
					t.Errorf("image %q: %s", image, line)
				}
			}
			if !strings.Contains(mounts, " /mnt/layer ") {
				t.Errorf("not all mounts are told of: %s", mounts)
			}
		}
	})
}

// TestMountsOfLikeNames: what is mounted at one place is found there, and nothing of
// what is mounted at another whose name is written almost the same.
func TestMountsOfLikeNames(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		rt := open(t, "")
		defer rt.Close()
		like := spec
		like.BuildDisk = spec.Disk
		targets := []string{"/mnt/a/b", "/mnt/a-b", "/mnt/a--b", "/mnt/a%2Fb", "/mnt/a:b,c d\\"}
		for _, target := range targets {
			source := t.TempDir()
			if err := os.WriteFile(filepath.Join(source, "file"), []byte(target+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(source, 0o755); err != nil {
				t.Fatal(err)
			}
			like.Mounts = append(like.Mounts, sandbox.Mount{Source: source, Target: target, Overlay: true},
				sandbox.Mount{Source: source, Target: "/opt" + target})
		}
		c, err := rt.Create(t.Context(), like)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			got, _ := sandboxtest.Script(t, c, nil, "cd '"+target+"' && cat file '/opt"+target+"/file' && echo x >new && ls")
			if want := target + "\n" + target + "\nfile\nnew\n"; got != want {
				t.Errorf("%s: %q", target, got)
			}
		}
	})
}

// TestMasks: what of /proc is masked has nothing to read, below its settings too, and what
// is beside it is there.
func TestMasks(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		needsThisKernel(t)
		rt := open(t, t.TempDir())
		defer rt.Close()
		c, err := rt.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		// Those that are named here are below others, or what a runtime could undo by making
		// /proc/sys read-only.
		read := "for f in " + strings.Join(append(rootfs.MaskedPaths(), "/proc/sys/fs/file-nr", "/proc/sys/kernel/pty/nr", "/proc/sys/kernel/random/boot_id"), " ") + "; do if [ -d $f ]; then ls $f; else cat $f 2>/dev/null | head -c 100; fi; done"
		if got, _ := sandboxtest.Script(t, c, nil, read); got != "" {
			t.Errorf("there is %q", got)
		}
		if got, _ := sandboxtest.Script(t, c, nil, "cat /proc/sys/kernel/random/uuid | wc -c; cat /proc/sys/kernel/ngroups_max"); got != "37\n65536\n" {
			t.Errorf("a random number and a setting are %q", got)
		}
	})
}
