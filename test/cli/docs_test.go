package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/doctest"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// The examples of these pages are run; doctest says how they are written.
func TestDocumentation(t *testing.T) {
	doctor := sandboxRun(t, "doctor").stdout
	if !strings.Contains(doctor, "at isolation full") {
		t.Skipf("the pages show isolation full, which this host does not have:\n%s", doctor)
	}
	sandboxRun(t, "--quiet", "--lang", "go", "--code", "package main\nfunc main() {}") // what is prepared
	sandboxRun(t, "--quiet", "--lang", "java", "--code", "class A { public static void main(String[] a) {} }")
	for _, page := range []string{"README.md", "docs/SANDBOX_RUN.md", "docs/en/SANDBOX.md", "docs/en/POLICY.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			env := testenv.Environ("SANDBOX_DATA_DIR="+dataDir, "E2B_API_KEY=", "E2B_API_KEY_FILE=") // the pages show what is not set up
			s := doctest.Suite{Name: "sandbox-run", Program: binary, Dir: t.TempDir(), Env: env, Needs: needs(doctor)}
			if s.Run(t, testenv.ReadFile(t, page)) == 0 {
				t.Error("the page has no session that can be run")
			}
		})
	}
}

// The Go program of the page about sandboxes does what the page says.
func TestDocumentationGo(t *testing.T) {
	_, rest, found := strings.Cut(testenv.ReadFile(t, "docs/en/SANDBOX.md"), "```go title=main.go\n")
	source, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("the page has no main.go")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-trimpath", program)
	cmd.Dir, cmd.Env = "../..", testenv.Environ()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok 42\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// needs are what an example may need: what doctor says, a disk, a toolchain, or
// packages (uv, and PyPI).
func needs(doctor string) map[string]func(*testing.T) bool {
	said := func(words string) func(*testing.T) bool {
		return func(*testing.T) bool { return strings.Contains(doctor, words) }
	}
	all := map[string]func(*testing.T) bool{
		"cgroup":     said("memory and swap, by cgroup"),
		"restricted": said("full, restricted"),
		"out":        said("allowlist"),
		"oci":        said("\noci: can run programs"),
		"on-disk": func(t *testing.T) bool {
			return sandboxRun(t, "--on-disk", "--lang", "exec", "--", "true").code == 0
		},
		"packages": func(*testing.T) bool {
			_, err := exec.LookPath("uv")
			return err == nil && reachable("pypi.org:443")
		},
	}
	for _, toolchain := range []string{"rust", "java@17", "java@25", "python@3.12"} {
		all[toolchain] = func(t *testing.T) bool {
			return sandboxRun(t, "--quiet", "--lang", toolchain, "--code", "").code != 127
		}
	}
	return all
}

func reachable(address string) bool {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// The page of sandbox-run leaves out no flag, no verb and no variable.
func TestDocumentationIsComplete(t *testing.T) {
	page := testenv.ReadFile(t, "docs/SANDBOX_RUN.md")
	help := sandboxRun(t, "--help").stdout
	words := regexp.MustCompile(`(?m)^  (?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1)
	_, verbs, _ := strings.Cut(help, "Verbs:\n")
	verbs, _, _ = strings.Cut(verbs, "\n\n")
	words = append(words, regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(verbs, -1)...)
	ours, _, _ := strings.Cut(testenv.ReadFile(t, ".env.example"), "# sandbox-server alone:")
	words = append(words, regexp.MustCompile(`(?m)^#?(SANDBOX_[A-Z_]+)=`).FindAllStringSubmatch(ours, -1)...)
	if len(words) < 40 {
		t.Fatalf("only %d flags, verbs and variables were found: %q", len(words), words)
	}
	for _, word := range words {
		if !regexp.MustCompile("[` ]" + word[1] + "[`\\s=]").MatchString(page) {
			t.Errorf("docs/SANDBOX_RUN.md says nothing about %s", word[1])
		}
	}
}
