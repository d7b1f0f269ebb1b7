package executor

import (
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestIDsAreUniqueAndWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`) // Crockford's alphabet, 128 bits
	seen := map[string]bool{}
	now := time.Now()
	for range 10_000 {
		id := NewID(now)
		if !form.MatchString(id) {
			t.Fatalf("id %q", id)
		}
		if seen[id] {
			t.Fatalf("id %s came twice", id)
		}
		seen[id] = true
	}
}

func TestIDsSortByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, 1<<48-2).Draw(t, "ms")
		later := rapid.Int64Range(ms+1, 1<<48-1).Draw(t, "later")
		if a, b := NewID(time.UnixMilli(ms)), NewID(time.UnixMilli(later)); a >= b {
			t.Fatalf("%s of %d does not sort before %s of %d", a, ms, b, later)
		}
	})
}

// The example of the ULID specification: this time is 01ARYZ6S41.
func TestIDTimeIsAULIDs(t *testing.T) {
	if id := NewID(time.UnixMilli(1469918176385)); id[:10] != "01ARYZ6S41" {
		t.Errorf("id %s, want 01ARYZ6S41…", id)
	}
}

func TestSignalName(t *testing.T) {
	for n, want := range map[int]string{
		0: "", 1: "SIGHUP", 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
		16: "SIGSTKFLT", sigXCPU: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS", 34: "SIG34", 64: "SIG64",
	} {
		if got := signalName(n); got != want {
			t.Errorf("signalName(%d) = %q, want %q", n, got, want)
		}
	}
}
