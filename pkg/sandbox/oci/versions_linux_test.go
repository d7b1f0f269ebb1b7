package oci_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

// saying makes a runtime that tells a version and does nothing else.
func saying(t *testing.T, version string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	name := filepath.Join(t.TempDir(), "myrun")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho '"+version+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// Under strict versions a runtime with a known hole is refused before anything is
// made, by whatever name its file goes, and so is one whose version cannot be told.
func TestStrictVersions(t *testing.T) {
	for version, want := range map[string]string{
		"runc version 1.1.11": "runc 1.1.11 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12",
		"runc version 1.2.7":  "runc 1.2.7 has CVE-2025-31133",
		"runc version 1.5.2":  "",
		"crun version 1.8.1":  "", // its hole takes an image
		"somerun version 1.0": "",
	} {
		dir := t.TempDir()
		rt, err := oci.New(oci.Options{Program: saying(t, version), RuntimeDir: dir, StrictVersions: true})
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", version, err)
				continue
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.As(err, new(*sandbox.UnsupportedError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: left %v", version, left)
		}
	}
	silent := filepath.Join(filepath.Dir(saying(t, "")), "runc")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := oci.New(oci.Options{Program: silent, RuntimeDir: t.TempDir(), StrictVersions: true}); err == nil || !strings.Contains(err.Error(), "the version of runc cannot be read") {
		t.Errorf("one that tells nothing: %v", err)
	}
}

// What takes an image is refused where there is one.
func TestStrictVersionsWithImage(t *testing.T) {
	rt, err := oci.New(oci.Options{Program: saying(t, "crun version 1.8.1"), RuntimeDir: t.TempDir(), StrictVersions: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	_, err = rt.Create(t.Context(), sandbox.Spec{Image: "example.test/i:1", Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if !errors.As(err, new(*sandbox.UnsupportedError)) || !strings.Contains(err.Error(), "CVE-2026-47766") {
		t.Errorf("error %v", err)
	}
}

// The runtimes of this machine: a container says what its runtime's version has, and
// doctor has a line on it.
func TestVersionsAreSaid(t *testing.T) {
	for _, name := range []string{"crun", "runc"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil || os.Geteuid() != 0 {
				t.Skipf("%s is not installed, or we are not root", name)
			}
			rt, err := oci.New(oci.Options{Program: name, RuntimeDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			caps, err := rt.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(caps.Mechanisms, func(m sandbox.Mechanism) bool { return m.Name == "versions" })
			if i < 0 || !strings.Contains(caps.Mechanisms[i].Detail, name+" ") {
				t.Fatalf("doctor says nothing of the version: %+v", caps.Mechanisms)
			}
			t.Logf("%+v", caps.Mechanisms[i])
			c, err := rt.Create(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Delete(context.WithoutCancel(t.Context()))
			said := strings.Join(c.Isolation().Warnings, "\n")
			t.Logf("%q", said)
			for hole := range strings.SplitSeq(caps.Mechanisms[i].Detail, "; ") {
				if ours := strings.Contains(hole, "(a program "); ours && !strings.Contains(said, hole) {
					t.Errorf("the container does not say %q, but %q", hole, said)
				}
			}
		})
	}
}
