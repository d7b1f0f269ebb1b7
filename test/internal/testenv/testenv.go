// Package testenv builds the programs that the suites beside it test from
// outside, and gives them a place and an environment.
package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const module = "github.com/sandbox-run/sandbox-run"

// Main is the TestMain of a suite: it has it run in a directory that is gone
// afterwards, which every user can read, and ends the process.
func Main(run func(dir string) (code int, err error)) {
	code := 0
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		code, err = run(dir)
	}
	os.RemoveAll(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Program is the path of a program of cmd: the one that an environment variable
// names, or one that is built into a directory.
func Program(dir, name, variable string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	var flags []string
	if Coverage() != "GOCOVERDIR=" {
		flags = []string{"-cover", "-coverpkg=" + module + "/..."}
	}
	return built(dir, name, flags...)
}

// Faulty is a program of cmd that can be told where to fail, and what to leave out
// (internal/fault): one of the directory that SANDBOX_TEST_FAULT names, or one that is built
// into a directory.
func Faulty(dir, name string) (string, error) {
	if ready := os.Getenv("SANDBOX_TEST_FAULT"); ready != "" {
		return filepath.Join(ready, name), nil
	}
	return built(dir, name, "-tags", "fault")
}

func built(dir, name string, flags ...string) (string, error) {
	path := filepath.Join(dir, name)
	build := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-o", path}, flags, []string{module + "/cmd/" + name})...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// Coverage is the variable that tells a program where to write its coverage, if
// SANDBOX_TEST_COVERDIR asks for it: the go command has GOCOVERDIR for itself.
func Coverage() string { return "GOCOVERDIR=" + os.Getenv("SANDBOX_TEST_COVERDIR") }

// Environ is that of a user who has set nothing of ours but these.
func Environ(settings ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "SANDBOX_") })
	return append(append(env, Coverage()), settings...)
}

// Within waits for what happens on its own, and reports whether it did in time.
func Within(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// ReadFile reads a file of the repository.
func ReadFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
