package oci_test

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

var programs = flag.String("oci", "crun", "OCI runtimes to test, separated by commas; each with flags of its own")

func TestConformance(t *testing.T) {
	for command := range strings.SplitSeq(*programs, ",") {
		words := strings.Fields(command)
		t.Run(words[0], func(t *testing.T) {
			if _, err := exec.LookPath(words[0]); err != nil {
				t.Skipf("%s is not installed", words[0])
			}
			if os.Geteuid() != 0 {
				t.Skip("OCI runtimes are driven as root")
			}
			sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, OwnNamespaces: words[0] != "runc", Open: func(t *testing.T) sandbox.Runtime {
				rt, err := oci.New(oci.Options{Program: words[0], Args: words[1:], RuntimeDir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				return rt
			}})
		})
	}
}
