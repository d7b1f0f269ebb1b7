package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the manual page anew")

// TestManPage keeps the manual page what the grammar is; run with -update
// after a change.
func TestManPage(t *testing.T) {
	const path = "../../docs/man/sandbox-run.1"
	want, err := manPage()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale (go test ./internal/cli -update): %s", path, diff)
	}
}

func TestManPageRenders(t *testing.T) {
	man, err := exec.LookPath("man")
	if err != nil {
		t.Skip("man is not installed")
	}
	cmd := exec.Command(man, "--warnings", "-l", "../../docs/man/sandbox-run.1")
	cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=80", "LC_ALL=C.UTF-8")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	page, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("man: %v: %s", err, complaints.String())
	}
	for _, want := range []string{"--max-output B", "SANDBOX_TIMEOUT_SEC", "completion", "127"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Bash loads the script and completes with it.
func TestBashCompletion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main file.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--time":              "--timeout",
		"--lang pyth":         "python python3",
		"-l jav":              "java javascript",
		"--lang py --out":     "--out --output",
		"--output nd":         "ndjson",
		"--isolation r":       "restricted",
		"--network a":         "allowlist",
		"--requirements main": "main file.py",
		"--server a":          "auto",
		"--file main":         "main file.py",
		"mai":                 "main file.py",
		"doc":                 "doctor",
		"--json doc":          "",
		"doctor --":           "--help --json --posture --runtime --seccomp",
		"doctor --runtime d":  "docker",
		"languages --run":     "--runtime",
		"gc --":               "--help --json",
		"gc mai":              "",
		"check --ent":         "--entry",
		"check mai":           "main file.py",
		"completion z":        "zsh",
		"image b":             "build-default",
		"image import --":     "--help --json --name --rootfs",
		"image import mai":    "main file.py",
		"image pull --":       "--help --json",
		"--timeout ":          "",
		"main.py -- --timeou": "",
	} {
		if got := completeWith(t, "bash", bashScript, bashDriver, dir, line); got != want {
			t.Errorf("sandbox-run %s<tab> offers %q, want %q", line, got, want)
		}
	}
}

const bashDriver = `COMP_WORDS=(sandbox-run) ; IFS=' ' read -ra words <<< "$LINE"
COMP_WORDS+=("${words[@]}"); [[ $LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_sandbox_run
printf '%s\n' "${COMPREPLY[@]}" | sort -u | grep . | paste -sd' '`

func completeWith(t *testing.T, shell string, script func(vocabulary) string, driver, dir, line string) string {
	t.Helper()
	program, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("%s is not installed", shell)
	}
	words, err := completionWords()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-c", script(words)+"\n"+driver)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LINE="+line, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	return strings.TrimSpace(string(out))
}

// Zsh and fish at least read their scripts without complaint.
func TestOtherShellsParse(t *testing.T) {
	words, err := completionWords()
	if err != nil {
		t.Fatal(err)
	}
	for shell, script := range map[string]string{"zsh": zshScript(words), "fish": fishScript(words)} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			cmd := exec.Command(program, "-n")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
