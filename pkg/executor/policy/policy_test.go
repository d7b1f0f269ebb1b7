package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct{ language, rule, module, want string }{
		{"python", "os", "os", "os"},
		{"python", "os", "os.path", "os"},
		{"python", "os.path", "os", ""},
		{"python", "os", "osx", ""},
		{"go", "os", "os/exec", "os"},
		{"go", "os/exec", "os", ""},
		{"go", "os", "example.com/os", ""},
		{"javascript", "fs", "node:fs/promises", "fs"},
		{"javascript", "node:fs", "fs", "fs"},
		{"typescript", "javascript:fs", "fs", "fs"},
		{"javascript", "typescript:fs", "fs", ""},
		{"rust", "std::fs", "std::fs::File", "std::fs"},
		{"rust", "rust:std::fs", "std::fs", "std::fs"},
		{"java", "java.net", "java.net.URL", "java.net"},
		{"java", "java:java.net", "java.network", ""},
		{"go", "python:os", "os", ""},
		{"bash", "os", "os/x", ""},
		{"python", "os", "", ""},
		{"python", "os", ".os", ""},
	} {
		rule, err := ParseRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := NewList(c.language, []Rule{rule}).Match(c.module); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %s against %s: %q, want %q", c.language, c.rule, c.module, got, c.want)
		}
	}
}

func TestParseRules(t *testing.T) {
	for text, want := range map[string][]Rule{
		"os":                   {{"", "os"}},
		"os, go:os/exec":       {{"", "os"}, {"go", "os/exec"}},
		"std::fs,rust:std::fs": {{"", "std::fs"}, {"rust", "std::fs"}},
		"+requests":            append(DefaultRules(), Rule{"", "requests"}),
	} {
		if got, err := ParseRules(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "+", "os,,x", "a b", "x;y", "go:", "'os'", "é", strings.Repeat("a", maxModule+1), "java.io.*"} {
		if got, err := ParseRules(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestModes(t *testing.T) {
	for text, ok := range map[string]bool{"off": true, "warn": true, "block": true, "": false, "Block": false} {
		if _, err := ParseMode(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !Off.LaxerThan(Warn) || !Warn.LaxerThan(Block) || Block.LaxerThan(Warn) || Warn.LaxerThan(Warn) {
		t.Error("the order of the modes is not theirs")
	}
}

// Each language with a list of its own can be read, and its rules are as Match looks
// for them.
func TestDefaultRules(t *testing.T) {
	for _, r := range DefaultRules() {
		if rule, ok := NewList(r.Language, DefaultRules()).Match(r.Module); !Knows(r.Language) || !ok || rule != r.Module && !strings.HasPrefix(r.Module, rule) {
			t.Errorf("%v: %q", r, rule)
		}
	}
}
