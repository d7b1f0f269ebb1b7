package language

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Repeat(rapid.String().Draw(t, "line"), rapid.IntRange(0, 50).Draw(t, "times"))
		short := shorten(line)
		if n := utf8.RuneCountInString(short); n > maxReason {
			t.Fatalf("%d characters are left", n)
		}
		if !utf8.ValidString(short) {
			t.Fatalf("%q is split within a character", short)
		}
		start := strings.TrimSuffix(short, "…")
		if !strings.HasPrefix(strings.TrimSpace(line), start) {
			t.Fatalf("%q is not the beginning of %q", short, line)
		}
	})
	if got, want := shorten(strings.Repeat("é", 301)), strings.Repeat("é", 299)+"…"; got != want {
		t.Errorf("301 characters became %q", got)
	}
	if got := shorten(" a\xffb "); got != "a\uFFFDb" {
		t.Errorf("invalid UTF-8 became %q", got)
	}
}

// Whatever a program wrote, no diagnosis is too long, splits a character or
// spans lines.
func FuzzDiagnose(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 1, in <module>\nValueError: x",
		"  File \"/workspace/main.py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed",
		"SyntaxError: ", "SyntaxError: Non-UTF-8 code", "  File \"\", line 9\nTabError: x",
		"/workspace/main.js:1\nx y\n\nSyntaxError: Unexpected identifier\n    at wrapSafe (node:internal/x:1:1)\n",
		"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
		"main.ts:1:2: error: x", "syntax error at main.pl line 1\nExecution of main.pl aborted due to compilation errors.",
		"lua5.4: main.lua:1: unexpected symbol near 'x'\nstack traceback:\n\t[C]: in ?", "PHP Fatal error:  x",
		"Error: " + strings.Repeat("é", 400),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stderr string) {
		for _, lang := range All() {
			for _, phase := range []string{"compile", "run"} {
				reason := lang.Diagnose(phase, stderr).Reason
				if utf8.RuneCountInString(reason) > maxReason || !utf8.ValidString(reason) || strings.Contains(reason, "\n") {
					t.Errorf("%s, %s: reason %q", lang.Info().Name, phase, reason)
				}
			}
		}
	})
}
