package executor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// What is trusted by its name is on the disk before it gets that: without power there is
// all of it, or nothing. The test runs itself as the process that is watched.
func TestKeptIsOnTheDisk(t *testing.T) {
	const variable = "EXECUTOR_TEST_KEEPS"
	if dir := os.Getenv(variable); dir != "" {
		keepOfEachKind(t, dir)
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	log := filepath.Join(t.TempDir(), "trace")
	child := exec.Command("strace", "-f", "-qq", "-o", log, "-e", "trace=syncfs,/^rename", os.Args[0], "-test.run=^TestKeptIsOnTheDisk$")
	child.Env = append(os.Environ(), variable+"="+t.TempDir())
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, call := range regexp.MustCompile(`(?m)^\d+ +(syncfs|rename)`).FindAllSubmatch(trace, -1) {
		calls = append(calls, string(call[1]))
	}
	if !slices.Equal(calls, slices.Repeat([]string{"syncfs", "rename"}, 3)) {
		t.Errorf("%q:\n%s", calls, trace)
	}
}

// keepOfEachKind makes a copy of this program, a build cache and an environment.
func keepOfEachKind(t *testing.T, dir string) {
	rt := &fakeRuntime{}
	rt.program = fillCache(rt)
	e := New(rt, Config{DataDir: dir, CompileDiskBytes: 1 << 20})
	_, release, err := goRun(e).selfMount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := goRun(e).buildCache(t.Context(), cacheUnderTest); err != nil {
		t.Fatal(err)
	}
	c := e.environments()
	if err := os.MkdirAll(c.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	content, discard, err := c.begin()
	if err != nil {
		t.Fatal(err)
	}
	defer discard()
	if err := errors.Join(os.WriteFile(filepath.Join(content, environmentSize), []byte("1"), 0o600), c.promote(content, "key")); err != nil {
		t.Fatal(err)
	}
}

// An entry begins while somebody removes those that nobody has: one that goes before it
// is locked is no failure.
func TestBeginWhileOthersPrune(t *testing.T) {
	c := environments{t.TempDir()}
	quit, pruned := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(pruned)
		for {
			if _, err := c.prune(""); err != nil {
				t.Error(err)
			}
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	for range 500 {
		dir, discard, err := c.begin()
		if err != nil {
			t.Error(err)
			break
		}
		if !exists(dir) {
			t.Error("it was removed while it is held")
		}
		discard()
	}
	close(quit)
	<-pruned
}
