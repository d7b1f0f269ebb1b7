package conventions

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestGoMod: with replace or exclude, `go install ...@version` refuses, and
// whoever imports the module builds something else than we do.
func TestGoMod(t *testing.T) {
	if !directive.MatchString("require x v1\n\nreplace x => ../x\n") || directive.MatchString("require example.com/replace v1\n") {
		t.Fatal("the pattern is wrong")
	}
	for _, line := range directive.FindAllString(read(t, "go.mod"), -1) {
		t.Errorf("go.mod has %q: use a released version, or a fork under its own name", strings.TrimSpace(line))
	}
}

var directive = regexp.MustCompile(`(?m)^(replace|exclude)\b.*$`)

// initDir holds the init: C source and what it was compiled to, side by side.
const initDir = "internal/kernel/spawn/init"

// TestInitIsRecorded holds the init's source, its build and its binaries
// together: the binaries are embedded as they are, so none may change unseen,
// and none may stay behind when the source moves on. That the source makes these
// bytes is shown by `make init`, which then changes nothing.
func TestInitIsRecorded(t *testing.T) {
	sums := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(root, initDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "SHA256SUMS" {
			sum := sha256.Sum256([]byte(read(t, initDir+"/"+name)))
			sums[name] = hex.EncodeToString(sum[:])
		}
	}
	var want strings.Builder
	names := slices.Sorted(maps.Keys(sums))
	for _, name := range names {
		want.WriteString(sums[name] + "  " + name + "\n")
	}
	if got := read(t, initDir+"/SHA256SUMS"); got != want.String() {
		t.Errorf("%[1]s/SHA256SUMS does not tell what is there: after a change of the init, run\n"+
			"\tmake init && (cd %[1]s && sha256sum %[2]s >SHA256SUMS)\nrecorded:\n%[3]swanted:\n%[4]s",
			initDir, strings.Join(names, " "), got, want.String())
	}
}

// TestVariablesAreDocumented looks at every SANDBOX_* name in the code. One that
// no variable of the configuration has is misspelt, or is read behind its back.
// (That .env.example has them all is tested in internal/config.)
func TestVariablesAreDocumented(t *testing.T) {
	known := map[string]bool{}
	example := read(t, ".env.example")
	for _, v := range config.Variables() {
		known[v.Name] = strings.Contains(example, "\n#"+v.Name+"=")
	}
	name := regexp.MustCompile(`\bSANDBOX_[A-Z][A-Z_]*[A-Z]\b`)
	for _, f := range mustGoFiles(t) {
		if f.isTestCode() || strings.HasPrefix(f.path, "internal/config/") {
			continue
		}
		for _, found := range name.FindAllString(f.text, -1) {
			if !known[found] {
				t.Errorf("%s: %s is not a variable of internal/config with a line in .env.example", f.path, found)
			}
		}
	}
}
