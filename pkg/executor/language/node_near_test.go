package language

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNearIsBuiltFromItsSource: what is checked in is what the source says. One version of the
// compiler makes the same bytes.
func TestNearIsBuiltFromItsSource(t *testing.T) {
	const compilerVersion = "12.2.0"
	for arch, compiler := range map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"} {
		t.Run(arch, func(t *testing.T) {
			version, err := exec.Command(compiler, "-dumpfullversion").Output()
			if got := strings.TrimSpace(string(version)); err != nil || got != compilerVersion {
				t.Skipf("%s is version %q (%v); only %s makes the same bytes", compiler, got, err, compilerVersion)
			}
			out := t.TempDir()
			build := exec.Command("sh", "node_near/build.sh", out)
			build.Env = append(os.Environ(), "ARCHS="+arch)
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			name := "near_" + arch + ".so"
			built, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := nodeNear.ReadFile("node_near/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(built, recorded) {
				t.Errorf("%s is not what its source makes: run make init", name)
			}
		})
	}
}
