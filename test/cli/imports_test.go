package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The policy sees what programs import in each of the languages, lets them run, and
// stops them where that is wanted.
func TestImports(t *testing.T) {
	for _, c := range []struct{ lang, name, code, blocked, stdout string }{
		{"python", "import", "import os.path\nprint(6 * 7)", "os", ""},
		{"python", "at the import", "print('ran')\n__import__('sub' + 'process')", "subprocess", "ran\n"},
		{"javascript", "require", "require('node:fs/promises'); console.log(6 * 7)", "fs", ""},
		{"typescript", "import", "import * as net from 'net'; let x: number = net.isIP('1'); console.log(x)", "net", ""},
		{"go", "import", "package main\nimport . \"os/exec\"\nfunc main() { println(Command(\"x\") != nil) }", "os", ""},
		{"rust", "in full", "fn main() { println!(\"{}\", std::process::id()) }", "std::process", ""},
		{"java", "in full", "class Main { public static void main(String[] a) { System.out.println(java.lang.Runtime.version()); } }", "java.lang.Runtime", ""},
	} {
		t.Run(c.lang+"/"+c.name, func(t *testing.T) {
			for mode, want := range map[string]api.Status{"warn": api.StatusOK, "block": api.StatusPolicyBlocked, "off": api.StatusOK} {
				o := sandboxRun(t, "--json", "--lang", c.lang, "--imports", mode, "--code", c.code)
				var r api.Result
				if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
					t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
				}
				blocked := []string{c.blocked}
				if mode == "off" {
					blocked = []string{}
				}
				if r.Status != want || !slices.Equal(r.Meta.BlockedImports, blocked) || strings.Contains(r.Stdout+r.Stderr, "\x1e") || len(r.Files) > 0 {
					t.Errorf("%s: %s %q, blocked %q, files %v, stderr %q", mode, r.Status, r.Message, r.Meta.BlockedImports, r.Files, r.Stderr)
				}
				if mode == "block" && (o.code != 126 || r.Message != "Security policy blocked import: "+c.blocked || r.Stdout != c.stdout) {
					t.Errorf("exit %d, %q, stdout %q", o.code, r.Message, r.Stdout)
				}
			}
		})
	}
}

// What does not parse is found in every kind of JavaScript: Node itself does not parse what
// it finds to be a module.
func TestCheckJavaScript(t *testing.T) {
	for code, want := range map[string]int{
		"import fs from 'fs'\nvar = ;":                                      1,
		"export const a = 1\nvar = ;":                                       1,
		"import fs from 'fs'\nawait fs.access()":                            0,
		"const fs = require('fs')\nvar = ;":                                 1,
		"const fs = require('fs'); with (fs) {}":                            0,
		"const run = async n => await 1; console.log('\\033[1mx')":          0,
		"p = Promise.resolve(1); p.then(async (r) => await r); with (p) {}": 0,
	} {
		if o := sandboxRun(t, "check", "--lang", "javascript", "--code", code); o.code != want || strings.Contains(o.stdout, "syntax: ok") != (want == 0) {
			t.Errorf("%q: exit %d, %s%s", code, o.code, o.stdout, o.stderr)
		}
	}
	project := t.TempDir()
	for name, text := range map[string]string{"package.json": `{"name":"x"}`, "index.js": "import fs from 'fs'\nvar = ;"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o := sandboxRun(t, "check", project); o.code != 1 {
		t.Errorf("beside a package.json without a type: exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
}

// Where there is no wall, the policy blocks unless it is told otherwise.
func TestImportsAtIsolationNone(t *testing.T) {
	none := []string{"--isolation", "none", "--lang"}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"python", "--code", "import os"}, 126, "Security policy blocked import: os"},
		{[]string{"python", "--trusted", "--code", "import os"}, 0, ""},
		{[]string{"python", "--imports", "warn", "--code", "import os"}, 0, ""},
		{[]string{"bash", "--code", "true"}, 2, "what Bash imports cannot be checked"},
		{[]string{"bash", "--trusted", "--code", "true"}, 0, ""},
	} {
		if o := sandboxRun(t, append(none, c.args...)...); o.code != c.code || !strings.Contains(o.stderr, c.stderr) {
			t.Errorf("%q: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
}
