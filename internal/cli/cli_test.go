package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// TestMain makes the test binary a sandbox-run too, with a scripted engine
// that the shipped binary does not have.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sandbox-run": func() {
			os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, Deps{Open: openFake, OpenReady: openFake, OpenServer: openFakeServer, Reclaim: reclaimFake, Version: "1.2.3"}))
		},
	})
}

func openFake(cfg config.Config, notify func(string)) (Engine, error) {
	if cfg.Runtime != "local" && os.Getenv("FAKE_OTHERS") == "" {
		return nil, fmt.Errorf("no %s here\x1b[2J", cfg.Runtime)
	}
	return &fakeEngine{cfg: cfg, notify: notify}, nil
}

func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata",
		Deadline: time.Now().Add(2 * time.Minute),
		Setup: func(env *testscript.Env) error {
			env.Setenv("FAKE_SCRIPT", filepath.Join(env.WorkDir, "script"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("SANDBOX_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "waitfor": waitFor, "interrupt": interrupt},
	})
}

// exits checks the exit code of a command: exits CODE sandbox-run ...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := itoa(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 2000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	ts.Fatalf("%s never appeared", args[0])
}

// interrupt sends a signal to the process whose id is in a file:
// interrupt FILE INT.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	process, err := os.FindProcess(pid)
	ts.Check(err)
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
	ts.Check(process.Signal(signals[args[1]]))
}
