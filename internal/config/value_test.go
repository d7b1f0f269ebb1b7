package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestParseBytes(t *testing.T) {
	good := map[string]int64{
		"1": 1, "4096": 4096, "10b": 10, "1k": 1 << 10, "512m": 512 << 20, "512M": 512 << 20, "512MB": 512 << 20,
		"512MiB": 512 << 20, "1.5g": 3 << 29, "1G": 1 << 30, "2t": 2 << 40, "0.5k": 512, ".5k": 512, "1048576t": 1 << 60,
	}
	for in, want := range good {
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	bad := map[string]string{
		"": "not a size", "m": "not a size", "12x": "not a size", "1 m": "not a size", "1e9": "not a size", "0x10": "not a size",
		"nan": "not a size", "inf": "not a size", "1.2.3m": "not a size", "1_000": "not a size", "+5": "not a size", "٣m": "not a size",
		"0": "more than zero", "0.4": "more than zero", "-5m": "more than zero", "1048577t": "absurdly large",
		strings.Repeat("9", 400): "size", // out of float64's range
	}
	for in, want := range bad {
		if got, err := ParseBytes(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseBytes(%q) = %d, %v, want an error with %q", in, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "500ms": 500 * time.Millisecond, "1m30s": 90 * time.Second, "33s": 33 * time.Second,
	}
	for in, want := range good {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	bad := map[string]string{
		"": "not a duration", "soon": "not a duration", "5 s": "not a duration", "1e3": "not a duration", "NaN": "not a duration",
		"0": "too short", "0s": "too short", "-1": "too short", "-5s": "too short", "1us": "too short",
		"9000h": "absurdly long", "99999999999999999999": "absurdly long",
	}
	for in, want := range bad {
		if got, err := ParseDuration(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDuration(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
	if _, err := ParseSeconds("5s"); err == nil {
		t.Error("ParseSeconds takes a unit although the name of the variable says it")
	}
}

func TestParseNumbers(t *testing.T) {
	for _, in := range []string{"", "0", "-1", "1.5", "x", "4194305", "99999999999999999999"} {
		if got, err := ParseCount(in); err == nil {
			t.Errorf("ParseCount(%q) = %d, want an error", in, got)
		}
	}
	for _, in := range []string{"", "0", "-1", "nan", "inf", "x", "0.001", "4097", "1e2"} {
		if got, err := ParseCPUs(in); err == nil {
			t.Errorf("ParseCPUs(%q) = %g, want an error", in, got)
		}
	}
	if n, err := ParseCount("128"); n != 128 || err != nil {
		t.Error(n, err)
	}
	if n, err := ParseCPUs("0.5"); n != 0.5 || err != nil {
		t.Error(n, err)
	}
}

// Whatever is written is either refused or within the bounds.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"512m", "1.5g", "-1", "nan", "1m30s", "0.5", "9999999t", "1e309"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseBytes(s); err == nil && (n < 1 || n > sandbox.MaxBytes) {
			t.Errorf("ParseBytes(%q) = %d", s, n)
		}
		if d, err := ParseDuration(s); err == nil && (d < time.Millisecond || d > sandbox.MaxWallTime) {
			t.Errorf("ParseDuration(%q) = %v", s, d)
		}
		if c, err := ParseCPUs(s); err == nil && !(c >= 0.01 && c <= MaxCPUs) {
			t.Errorf("ParseCPUs(%q) = %v", s, c)
		}
		if n, err := ParseCount(s); err == nil && (n < 1 || n > MaxCount) {
			t.Errorf("ParseCount(%q) = %d", s, n)
		}
	})
}

// A whole number of any unit is exactly that many bytes.
func TestParseBytesExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<20).Draw(t, "n")
		unit := rapid.IntRange(0, 4).Draw(t, "unit")
		s := fmt.Sprintf("%d%s", n, []string{"", "k", "M", "GiB", "tb"}[unit])
		got, err := ParseBytes(s)
		if want := n << (10 * unit); err != nil || got != want {
			t.Fatalf("ParseBytes(%q) = %d, %v, want %d", s, got, err, want)
		}
	})
}
