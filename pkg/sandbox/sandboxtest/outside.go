package sandboxtest

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Script runs a script of the shell in a container to its end, with a network of its own
// if one is given. It returns what it printed, on either stream.
func Script(t testing.TB, c sandbox.Container, network *sandbox.NetworkPolicy, script string) (string, sandbox.Exit) {
	t.Helper()
	var out bytes.Buffer
	p := shell("exec 2>&1; " + script)
	p.Stdout, p.Network = &out, network
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

// fetch prints what is at a URL, or what kind of error is in the way.
const fetch = `import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")
except urllib.error.URLError as e:
    print(type(e.reason).__name__, end="")
except OSError as e:
    print(type(e).__name__, end="")
`

// Fetch returns what a program in a container finds at a URL, or what kind of error is
// in its way, by Python's name.
func Fetch(t testing.TB, c sandbox.Container, network *sandbox.NetworkPolicy, url string) (string, sandbox.Exit) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no python3 to fetch with")
	}
	return Script(t, c, network, "/usr/bin/python3 -S -c '"+fetch+"' "+url)
}

// NothingMore returns a check that we have no more descriptors and goroutines than now.
// What is about to end has some seconds for it. Until the test ends the garbage collector
// closes nothing that was forgotten.
func NothingMore(t testing.TB) (check func()) {
	collector := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(collector) })
	files, goroutines := openFiles(), runtime.NumGoroutine()
	return func() {
		t.Helper()
		for range 500 {
			if openFiles() <= files && runtime.NumGoroutine() <= goroutines {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d descriptors and %d goroutines, %d and %d before", openFiles(), runtime.NumGoroutine(), files, goroutines)
	}
}

// openFiles counts our descriptors without pipes, of which package net keeps some for
// its next splice.
func openFiles() (n int) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if target, _ := os.Readlink("/proc/self/fd/" + e.Name()); !strings.HasPrefix(target, "pipe:") {
			n++
		}
	}
	return n
}
