package conventions

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGo lists the packages of a file, and writes down how it was called else.
const fakeGo = `#!/bin/sh
[ "$1" = list ] && exec cat "$FAKE_PACKAGES"
echo "$*" >>"$FAKE_CALLS"
`

// TestEachPackageIsTestedOnce holds scripts/gotest.sh to what a count of tests rests on. What
// builds commands is to be tested again although its own files are the same.
func TestEachPackageIsTestedOnce(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts/gotest.sh")) // by us, so that go test knows when it changes
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{
		"pkg/api": "", "pkg/executor/language": "", "pkg/sandbox": "", "pkg/sandbox/sandboxtest": "", "internal/cli": "", "cmd/sandbox-run": "",
		"pkg/sandbox/local": "-p 1", "internal/kernel/spawn": "-p 1", "internal/posture": "-p 1",
		"test/cli": "-p 1 -count=1", "test/internal/testenv": "-p 1 -count=1",
	}
	var packages strings.Builder
	for name := range wanted {
		packages.WriteString(modulePath + "/" + name + "\n")
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	file("go", fakeGo)
	calls := filepath.Join(dir, "calls")
	run := exec.CommandContext(t.Context(), "bash", "-c", string(script), "scripts/gotest.sh", "-run", "X")
	run.Dir = root
	run.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FAKE_PACKAGES="+file("packages", packages.String()), "FAKE_CALLS="+calls)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		flags, list, _ := strings.Cut(strings.TrimSpace(line), " -run X ")
		for name := range strings.FieldsSeq(list) {
			name = strings.TrimPrefix(name, modulePath+"/")
			tested[name] = append(tested[name], strings.TrimSpace(strings.TrimPrefix(flags, "test -json -trimpath -vet=off -timeout 20m")))
		}
	}
	for name, flags := range wanted {
		if got := tested[name]; len(got) != 1 || got[0] != flags {
			t.Errorf("%s is tested %d times, with %q; want once, with %q", name, len(got), got, flags)
		}
	}
}
