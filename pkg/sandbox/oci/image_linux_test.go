package oci_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

// eachProgram calls do with each OCI runtime that is to be tested and is here.
func eachProgram(t *testing.T, do func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime)) {
	for command := range strings.SplitSeq(*programs, ",") {
		words := strings.Fields(command)
		t.Run(words[0], func(t *testing.T) {
			if _, err := exec.LookPath(words[0]); err != nil {
				t.Skipf("%s is not installed", words[0])
			}
			if os.Geteuid() != 0 {
				t.Skip("OCI runtimes are driven as root")
			}
			do(t, func(t *testing.T, images string) sandbox.Runtime {
				rt, err := oci.New(oci.Options{Program: words[0], Args: words[1:], RuntimeDir: t.TempDir(), ImageDir: images})
				if err != nil {
					t.Fatal(err)
				}
				return rt
			})
		})
	}
}

// needsThisKernel skips where the kernel is the runtime's own.
func needsThisKernel(t *testing.T) {
	t.Helper()
	if strings.HasSuffix(t.Name(), "/runsc") {
		t.Skip("gVisor has a kernel of its own, with a /proc and terminals of its own")
	}
}

func TestImages(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		sandboxtest.RunImages(t, open)
	})
}

func TestImageConformance(t *testing.T) {
	eachProgram(t, func(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
		images := sandboxtest.Images(t)
		sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, Image: true, Ask: sandboxtest.HostImage, Open: func(t *testing.T) sandbox.Runtime {
			return open(t, images)
		}})
	})
}
