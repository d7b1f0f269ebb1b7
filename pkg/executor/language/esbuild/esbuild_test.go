package esbuild

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run compiles files in a directory of their own and returns the exit code,
// stderr and what was made by name.
func run(t *testing.T, files map[string]string, args ...string) (code int, stderr string, made map[string]string) {
	t.Helper()
	src, out := t.TempDir(), t.TempDir()
	for name, content := range files {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(src)
	args = append([]string{"--commonjs=" + out + "/main.cjs", "--module=" + out + "/main.mjs"}, args...)
	var buffer bytes.Buffer
	code = Main(args, nil, nil, &buffer)
	made = map[string]string{}
	for _, name := range []string{"main.cjs", "main.mjs"} {
		if content, err := os.ReadFile(filepath.Join(out, name)); err == nil {
			made[name] = string(content)
		}
	}
	return code, buffer.String(), made
}

func TestFormats(t *testing.T) {
	tests := []struct{ name, code, made string }{
		{"plain", "const x: number = 1; console.log(x)", "main.cjs"},
		{"import and export", "import fs from 'fs'; export const x: number = fs.constants.R_OK", "main.cjs"},
		{"places", "console.log(import.meta.url, import.meta.dirname, __dirname)", "main.cjs"},
		{"await at the top", "await 1", "main.mjs"},
		{"other meta", "console.log(import.meta.resolve('fs'))", "main.mjs"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stderr, made := run(t, map[string]string{"main.ts": test.code}, "main.ts")
			if code != 0 || stderr != "" || len(made) != 1 || made[test.made] == "" {
				t.Errorf("code %d, stderr %q, made %v", code, stderr, made)
			}
		})
	}
}

func TestTarget(t *testing.T) {
	const code = "class A { static { console.log(1) } }; using x = {[Symbol.dispose]() {}}"
	_, _, made := run(t, map[string]string{"main.ts": code}, "--target=node18.0.0", "main.ts")
	if bundle, _, _ := strings.Cut(made["main.cjs"], "//# sourceMappingURL"); strings.Contains(bundle, "using x") {
		t.Errorf("Node 18 would not parse this:\n%s", bundle)
	}
}

// The report names what is imported, and not what types alone need.
func TestReport(t *testing.T) {
	files := map[string]string{
		"main.ts":  "import './lib/x'; import type {Socket} from 'net'; import {Server} from 'http'; let s: Server; require('o' + 's'); await import(`fs`); // import 'dns'",
		"lib/x.ts": "export * from 'node:vm'; const y = 'import \"tls\"'",
	}
	code, stderr, _ := run(t, files, "--report=N", "main.ts")
	want := "\x1eNi./lib/x\x1dmain.ts\x1d0\x1ffs\x1dmain.ts\x1d0\x1fnode:vm\x1dlib/x.ts\x1d0\x1fos\x1dmain.ts\x1d0\x1e\x1eNs\x1e"
	if code != 0 || stderr != want {
		t.Errorf("code %d, %q, want %q", code, stderr, want)
	}
	if _, stderr, _ := run(t, files, "main.ts"); stderr != "" {
		t.Errorf("a report that nobody has asked for: %q", stderr)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, code string
		args       []string
		exit       int
		want       string
	}{
		{"does not parse", "let é = ;", []string{"main.ts"}, 1, "main.ts:1:10: error: Unexpected \";\"\n    let é = ;\n"},
		{"no such entry", "", []string{"gone.ts"}, 1, "error: Could not resolve "},
		{"no entry", "", nil, 2, "one entry is needed, not 0"},
		{"two entries", "", []string{"a.ts", "b.ts"}, 2, "one entry is needed, not 2"},
		{"unknown flag", "", []string{"--x", "a.ts"}, 2, "flag provided but not defined: -x"},
		{"other target", "", []string{"--target=chrome1", "a.ts"}, 2, `the target "chrome1" is not a version of Node`},
		{"no output", "", []string{"--module=", "a.ts"}, 2, "--commonjs and --module are needed"},
		{"output cannot be written", "", []string{"--commonjs=/nowhere/x", "main.ts"}, 1, "open /nowhere/x: no such file or directory"},
		{"broken target", "", []string{"--target=nodeX", "main.ts"}, 1, "error: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stderr, made := run(t, map[string]string{"main.ts": test.code}, test.args...)
			if code != test.exit || !strings.Contains(stderr, test.want) || len(made) > 0 {
				t.Errorf("code %d, stderr %q, made %v; want %d, %s", code, stderr, made, test.exit, test.want)
			}
		})
	}
}

// A hostile source ends the compiler with an error, not with a panic.
func FuzzMain(f *testing.F) {
	f.Add("const x: number = 1; console.log(__dirname)", "export const y = import.meta.url")
	f.Add("@d class A<T> {}", "await")
	f.Fuzz(func(t *testing.T, code, other string) {
		exit, stderr, made := run(t, map[string]string{"main.ts": "import './other';\n" + code, "other.ts": other}, "main.ts")
		if exit == 0 != (len(made) == 1) || exit > 1 || exit == 1 && stderr == "" {
			t.Errorf("code %d, stderr %q, %d files", exit, stderr, len(made))
		}
	})
}
