package lockfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// opened is a file as another process would have it: each opening locks for itself.
func opened(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestTry(t *testing.T) {
	for _, c := range []struct{ first, second, held bool }{{true, true, true}, {true, false, true}, {false, true, true}, {false, false, false}} {
		name := filepath.Join(t.TempDir(), "lock")
		first, second := opened(t, name), opened(t, name)
		if err := lockfile.Try(first, c.first); err != nil {
			t.Fatal(err)
		}
		if err := lockfile.Try(second, c.second); errors.Is(err, lockfile.ErrHeld) != c.held || !c.held && err != nil {
			t.Errorf("alone %v, then alone %v: %v", c.first, c.second, err)
		}
		first.Close()
		if err := lockfile.Try(second, true); err != nil {
			t.Errorf("given back: %v", err)
		}
		second.Close()
		if err := lockfile.Try(second, true); err == nil || errors.Is(err, lockfile.ErrHeld) {
			t.Errorf("a closed file: %v", err)
		}
	}
}

func TestWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, second := opened(t, name), opened(t, name)
	if err := lockfile.Wait(t.Context(), first, true); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lockfile.Wait(ctx, second, true); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	taken := make(chan error)
	go func() { taken <- lockfile.Wait(t.Context(), second, true) }()
	first.Close()
	if err := <-taken; err != nil {
		t.Errorf("given back: %v", err)
	}
}
