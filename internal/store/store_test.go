package store

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var lastRun atomic.Int64

// newRun is a line with an id that no other of this process has.
func newRun(started time.Time) Run {
	return Run{
		ID:      started.UTC().Format("20060102150405.000000000") + "-" + time.Duration(lastRun.Add(1)).String(),
		Started: started.UTC().Truncate(time.Millisecond), Tenant: "acme", KeyID: "k1", RequestID: "r1",
		SourceSHA256: strings.Repeat("ab", 32), Language: "python", Version: "3.11.2",
		Limits: json.RawMessage(`{"timeout_seconds":33}`), Node: "n1",
	}
}

func ended(status string) RunEnd {
	return RunEnd{
		Finished: time.Now().UTC().Truncate(time.Millisecond), Status: status, ExitCode: 1,
		CPUSeconds: new(0.5), WallSeconds: new(1.5), MemoryPeakBytes: new(int64(1 << 20)),
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	if err := s.BeginRun(t.Context(), newRun(time.Now())); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "server.db": 0o600, "server.db-wal": 0o600, "server.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %v, want %v", name, got, want)
		}
	}
}

// Every connection of the pool has the settings, also under a name that needs
// quoting in a URL.
func TestSettings(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "100% a?b#c d"))
	for range 4 {
		c, err := s.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() }) // held, so that the next is another
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "5000"} {
			var got string
			if err := c.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %s (%v), want %s", pragma, got, err, want)
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, fileName), []byte(strings.Repeat("not a database", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: "not a directory", damaged: "file is not a database"} {
		if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// Many processes make the same database at once, as a server and a command do
// that are started together for the first time.
func TestOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if out, err := helper(t, "once", dir).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	if runs, err := open(t, dir).Runs(t.Context(), RunFilter{}); err != nil || len(runs) != 6 {
		t.Errorf("%d lines, %v", len(runs), err)
	}
}
