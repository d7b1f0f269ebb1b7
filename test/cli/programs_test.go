package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

var allPrograms = flag.Bool("all-programs", false, "run all programs of the corpus, as make programs does; otherwise each third, or sixth where they are compiled")

// TestPrograms runs the corpus of ordinary programs (test/programs) in the
// sandbox and compares what they print with what they printed on the bare host,
// byte for byte. test/programs/record.sh recorded that.
func TestPrograms(t *testing.T) {
	for _, lang := range []string{"python", "javascript", "go", "rust", "java"} {
		t.Run(lang, func(t *testing.T) {
			dirs, err := filepath.Glob(filepath.Join("..", "programs", lang, "testdata", "*"))
			if err != nil || len(dirs) == 0 {
				t.Fatalf("no programs: %v", err)
			}
			if !*allPrograms {
				every := 4
				if lang == "go" || lang == "rust" || lang == "java" {
					every = 10
				}
				dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !usual(dir, every) })
			}
			var passed, skipped atomic.Int64
			version := toolchainVersion(t, lang)
			t.Run("all", func(t *testing.T) {
				for _, dir := range dirs {
					t.Run(filepath.Base(dir), func(t *testing.T) {
						t.Parallel()
						if needed := neededVersion(t, dir); older(version, needed) {
							skipped.Add(1)
							t.Skipf("it needs %s %s or later; the one here is %s", lang, needed, version)
						}
						if runProgram(t, lang, dir) {
							passed.Add(1)
						}
					})
				}
			})
			ran := int64(len(dirs)) - skipped.Load()
			t.Logf("%d of %d %s programs print what they print on the bare host; %d more need a newer toolchain than %s",
				passed.Load(), ran, lang, skipped.Load(), version)
		})
	}
}

// usual tells whether a program is one of those that every test runs, one of so many, by the
// number that its name begins with.
func usual(dir string, every int) bool {
	n := numbers(filepath.Base(dir))
	return len(n) == 0 || n[0]%every == 0
}

// toolchainVersion is the version that a program of the language gets, empty if
// there is no toolchain: its programs then fail with what sandbox-run says.
func toolchainVersion(t *testing.T, lang string) string {
	for _, tc := range listed(t, sandboxRun(t, "languages", "--json")) {
		if tc.Name == lang {
			return tc.Version
		}
	}
	return ""
}

// toolchain is one that sandbox-run languages names.
type toolchain struct {
	Name, Version string
	Available     bool
}

func listed(t *testing.T, o outcome) []toolchain {
	t.Helper()
	var list struct{ Languages []toolchain }
	if err := json.Unmarshal([]byte(o.stdout), &list); err != nil {
		t.Fatalf("sandbox-run languages: %v\n%s", err, o.stderr)
	}
	return list.Languages
}

// neededVersion reads the file needs: a line of comment that says why, and the
// oldest toolchain that the program runs with. Without the file it is empty.
func neededVersion(t *testing.T, dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, "needs"))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`^# .*\n(\d+(\.\d+)*)\n$`).FindSubmatch(content)
	if match == nil {
		t.Fatalf("needs: %q is not a line of comment and a version", content)
	}
	return string(match[1])
}

// older compares the numbers of two versions; what is unknown is not older.
func older(version, needed string) bool {
	return version != "" && slices.Compare(numbers(version), numbers(needed)) < 0
}

func numbers(version string) []int {
	var all []int
	for _, part := range regexp.MustCompile(`\d+`).FindAllString(version, -1) {
		n, _ := strconv.Atoi(part) // digits, and few
		all = append(all, n)
	}
	return all
}

// aside are the files of a program's folder that are not its source.
var aside = map[string]bool{"stdin": true, "stdout": true, "stderr": true, "args": true, "env": true, "exit": true, "needs": true}

func runProgram(t *testing.T, lang, dir string) (passed bool) {
	source := t.TempDir()
	sources, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range sources {
		if aside[e.Name()] {
			continue
		}
		names = append(names, e.Name())
		from, to := filepath.Join(dir, e.Name()), filepath.Join(source, e.Name())
		if e.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = copyFile(from, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	i := invocation{user: user{self: true}, args: []string{"--output", "raw", "--lang", lang, "--memory", "1g"}}
	if stdin, err := os.ReadFile(filepath.Join(dir, "stdin")); err == nil {
		i.stdin = string(stdin)
		i.args = append(i.args, "--stdin", "-")
	}
	for _, kv := range readLines(t, filepath.Join(dir, "env")) {
		i.args = append(i.args, "--env", kv)
	}
	what := source
	if len(names) == 1 {
		what = filepath.Join(source, names[0])
	}
	i.args = append(i.args, what)
	if args := readLines(t, filepath.Join(dir, "args")); len(args) > 0 {
		i.args = append(append(i.args, "--"), args...)
	}
	o := i.run(t)
	if want := expectedExit(t, dir); o.code != want {
		t.Errorf("exit code %d, want %d", o.code, want)
	}
	for _, stream := range []struct{ name, got string }{{"stdout", o.stdout}, {"stderr", o.stderr}} {
		want, err := os.ReadFile(filepath.Join(dir, stream.name))
		if err == nil && string(want) != stream.got {
			t.Errorf("%s differs:\n got %.600q\nwant %.600q", stream.name, stream.got, want)
		}
	}
	if t.Failed() {
		t.Logf("stderr: %.1500s", o.stderr)
	}
	return !t.Failed()
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

func readLines(t *testing.T, name string) []string {
	content, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

func expectedExit(t *testing.T, dir string) int {
	lines := readLines(t, filepath.Join(dir, "exit"))
	if len(lines) == 0 {
		return 0
	}
	code, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	return code
}
