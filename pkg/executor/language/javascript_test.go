package language

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestJavaScriptPrograms(t *testing.T) {
	code := func(code string, args ...string) Source { return Source{Code: []byte(code), Args: args} }
	tests := []struct {
		name  string
		src   Source
		stdin string
		want  string
	}{
		{"CommonJS", code("const path = require('path'); console.log(path.basename(__filename), process.argv.slice(2))", "a", "-b"), "", "main.js [ 'a', '-b' ]\n"},
		{"an ES module", code("import fs from 'node:fs'\nconsole.log(fs.existsSync(new URL(import.meta.url)))"), "", "true\n"},
		{"await at the top", code("const x = await Promise.resolve(42)\nconsole.log(x)"), "", "42\n"},
		{"unicode everywhere", code("console.log('héllo 你好 🦀', process.argv[2], require('fs').readFileSync(0, 'utf8').trim())", "ñ"), "ß\n", "héllo 你好 🦀 ñ ß\n"},
		{"relative and JSON imports", source("", "main.js", "const d = require('./data.json'); const {f} = require('./lib/f'); console.log(f(d.x))", "data.json", `{"x": 20}`, "lib/f.js", "exports.f = x => x + 1"), "", "21\n"},
		{"a module imports a module", source("", "main.mjs", "import {x} from './x.mjs'; console.log(x)", "x.mjs", "export const x = 3"), "", "3\n"},
		{"package.json decides", source("", "index.js", "import {x} from './x.js'; console.log(x)", "x.js", "export const x = 4", "package.json", `{"type":"module"}`), "", "4\n"},
		{"an entry by name", source("b.cjs", "main.js", "", "b.cjs", "console.log(5)"), "", "5\n"},
	}
	for _, tc := range toolchains(t, newJavaScript()) {
		for _, test := range tests {
			t.Run(tc.Version+"/"+test.name, func(t *testing.T) {
				got := newBareWorld(t).execute(newJavaScript(), tc, test.src, test.stdin)
				if got.code != 0 || got.stdout != test.want || got.stderr != "" {
					t.Errorf("code %d, stdout %q, stderr %q; want %q", got.code, got.stdout, got.stderr, test.want)
				}
			})
		}
	}
}

func TestJavaScriptCommand(t *testing.T) {
	module := Source{Code: []byte("import 'fs'")}
	tests := []struct {
		version string
		src     Source
		want    []string
		typed   bool // package.json is written
	}{
		{"18.20.4", module, []string{"/n", "--max-old-space-size=384", "main.js"}, true},
		{"18.20.4", Source{Code: []byte("require('fs')")}, []string{"/n", "--max-old-space-size=384", "main.js"}, false},
		{"18.20.4", source("", "main.mjs", "import 'fs'"), []string{"/n", "--max-old-space-size=384", "main.mjs"}, false},
		{"20.18.3", module, []string{"/n", "--max-old-space-size=384", "main.js"}, true},
		{"20.19.0", module, []string{"/n", "--max-old-space-size=384", "main.js"}, false},
		{"21.0.0", module, []string{"/n", "--max-old-space-size=384", "main.js"}, true},
		{"22.6.0", module, []string{"/n", "--max-old-space-size=384", "main.js"}, true},
		{"22.10.0", module, []string{"/n", "--max-old-space-size=384", "main.js"}, false},
		{"22.10.0", Source{Code: []byte("import 'fs'"), Check: true}, []string{"/n", "--max-old-space-size=384", "main.js"}, true},
		{"22.10.0", Source{Code: []byte("require('fs')"), Check: true}, []string{"/n", "--max-old-space-size=384", "main.js"}, false},
		{"24.1.0", Source{Code: []byte("1"), Dir: "/tmp", Args: []string{"x"}}, []string{"/n", "--max-old-space-size=384", "/workspace/main.js", "x"}, false},
	}
	for _, test := range tests {
		plan, err := newJavaScript().Plan(Toolchain{Program: "/n", Version: test.version}, test.src, Resources{MemoryBytes: 512 << 20})
		if err != nil {
			t.Fatal(err)
		}
		step, _ := plan.Run(nil)
		if diff := cmp.Diff(test.want, step.Args); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.version, diff)
		}
		if has(plan.Files, "package.json") != test.typed {
			t.Errorf("%s: package.json is there: %v", test.version, !test.typed)
		}
	}
	src := source("", "main.js", "import 'fs'", "package.json", "{}")
	plan, err := newJavaScript().Plan(Toolchain{Program: "/n", Version: "18.0.0"}, src, Resources{})
	if err != nil || string(plan.Files["package.json"]) != "{}" {
		t.Errorf("the user's package.json became %q (%v)", plan.Files["package.json"], err)
	}
}

func TestHeapFlags(t *testing.T) {
	tests := []struct {
		mib  int64
		want []string
	}{
		{0, nil},
		{32, []string{"--max-old-space-size=16"}},
		{128, []string{"--max-old-space-size=48"}},
		{512, []string{"--max-old-space-size=384"}},
		{4096, []string{"--max-old-space-size=3520"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, heapFlags(Resources{MemoryBytes: test.mib << 20})); diff != "" {
			t.Errorf("%d MiB (-want +got):\n%s", test.mib, diff)
		}
	}
}

func TestUsesModules(t *testing.T) {
	tests := []struct {
		code string
		want bool
	}{
		{"import fs from 'fs'", true},
		{"import 'fs'", true},
		{"import{x}from'y'", true},
		{"import * as x from 'y'", true},
		{"'use strict'; import x from 'y'", true},
		{"#!/usr/bin/env node\nimport x from 'y'", true},
		{"export default 1", true},
		{"export {x}", true},
		{"console.log(import.meta.url)", true},
		{"const x = await f()", true},
		{"for await (const x of y) {}", true},
		{"const s = 'it\\'s'; await f(s)", true},
		{"/* import x from 'y' */ f()", false},
		{"// import x from 'y'", false},
		{"const s = `\nimport x from 'y'\n`", false},
		{"const s = \"import x from 'y'\"", false},
		{"import('fs').then(f)", false},
		{"const exports1 = 1; important = 2", false},
		{"async function f() { await g() }", false},
		{"const f = async () => { await g() }", false},
		{"const fs = require('fs'); const f = async () => await g()", false},
		{"module.exports = 1", false},
		{"", false},
		{"'", false},
		{"`", false},
		{"/*", false},
		{"\"\\", false},
	}
	for _, test := range tests {
		if got := usesModules([]byte(test.code)); got != test.want {
			t.Errorf("usesModules(%q) = %v", test.code, got)
		}
	}
}

func FuzzUsesModules(f *testing.F) {
	f.Add([]byte("import x from 'y' // `"))
	f.Fuzz(func(t *testing.T, code []byte) {
		bare := blankLiterals(code)
		if len(bare) != len(code) || strings.Count(string(bare), "\n") != strings.Count(string(code), "\n") {
			t.Errorf("%q became %q", code, bare)
		}
		usesModules(code)
	})
}

func TestJavaScriptDiagnose(t *testing.T) {
	code := func(code string) Source { return Source{Code: []byte(code)} }
	tests := []struct {
		name string
		src  Source
		want Diagnosis
	}{
		{"uncaught", code("null.x"), Diagnosis{Reason: "TypeError: Cannot read properties of null (reading 'x')"}},
		{"without words", code("throw new RangeError"), Diagnosis{Reason: "RangeError"}},
		{"several lines", code("throw new Error('a\\nb')"), Diagnosis{Reason: "Error: a"}},
		{"own class", code("class MyError extends Error {}; throw new MyError('é')"), Diagnosis{Reason: "MyError: é"}},
		{"a string", code("throw 'foo'"), Diagnosis{Reason: "foo"}},
		{"a rejection", code("Promise.reject(new Error('r'))"), Diagnosis{Reason: "Error: r"}},
		{"no such package", code("require('nope')"), Diagnosis{Reason: "Error: Cannot find module 'nope'"}},
		{"no such package in a module", code("import 'nope'"), Diagnosis{Reason: "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nope' imported from "}},
		{"does not parse", code("let x = ;"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'", SyntaxError: true}},
		{"a module that does not parse", source("", "main.mjs", "let x = ;"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'", SyntaxError: true}},
		{"an import that does not parse", source("", "main.mjs", "import './x.mjs'", "x.mjs", "let x = ;"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'", SyntaxError: true}},
		{"a file required at run time", source("", "main.js", "require('./x.js')", "x.js", "let x = ;"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'"}},
		{"JSON", code("JSON.parse('')"), Diagnosis{Reason: "SyntaxError: Unexpected end of JSON input"}},
		{"eval", code("eval('let x = ;')"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'"}},
		{"thrown", code("throw new SyntaxError('mine')"), Diagnosis{Reason: "SyntaxError: mine"}},
		{"after output", code("console.error('hi'); eval('let x = ;')"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'"}},
		{"JSON in a promise", code("new Response('').json()"), Diagnosis{Reason: "SyntaxError: Unexpected end of JSON input"}},
		{"imported after output", source("", "main.mjs", "console.error('hi'); import('./x.mjs')", "x.mjs", "let x = ;"), Diagnosis{Reason: "SyntaxError: Unexpected token ';'"}},
		{"disk", code("throw Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC'})"), Diagnosis{Reason: "Error: ENOSPC: no space left on device, write", DiskFull: true}},
		{"processes", code("throw new Error('spawn ls EAGAIN')"), Diagnosis{Reason: "Error: spawn ls EAGAIN", NoProcesses: true}},
		{"a worker", code("throw Object.assign(new Error('EAGAIN'), {code: 'ERR_WORKER_INIT_FAILED'})"), Diagnosis{Reason: "Error: EAGAIN", NoProcesses: true}},
		{"a file that does not block", code("throw new Error('EAGAIN: resource temporarily unavailable, read')"), Diagnosis{Reason: "Error: EAGAIN: resource temporarily unavailable, read"}},
		{"silent", code("process.exit(3)"), Diagnosis{}},
	}
	for _, tc := range toolchains(t, newJavaScript()) {
		for _, test := range tests {
			t.Run(tc.Version+"/"+test.name, func(t *testing.T) {
				w := newBareWorld(t)
				got := w.execute(newJavaScript(), tc, test.src, "")
				if got.code == 0 {
					t.Error("the program ended with 0")
				}
				d := newJavaScript().Diagnose("run", got.stderr)
				d.Reason, _, _ = strings.Cut(d.Reason, w.dir)
				if diff := cmp.Diff(test.want, d); diff != "" {
					t.Errorf("%s\ndiagnosis (-want +got):\n%s", got.stderr, diff)
				}
			})
		}
	}
}

func TestJavaScriptHeapLimit(t *testing.T) {
	tc := toolchains(t, newJavaScript())[0]
	w := newBareWorld(t)
	plan, err := newJavaScript().Plan(tc, Source{Code: []byte("const a = []; for (;;) a.push(new Array(1000).fill(1.5))")}, Resources{MemoryBytes: 100 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w.write(plan.Files)
	step, _ := plan.Run(nil)
	code, _, stderr := w.step(step, "")
	d := newJavaScript().Diagnose("run", stderr)
	if code == 0 || !d.OutOfMemory || !strings.HasPrefix(d.Reason, "FATAL ERROR: ") || !strings.HasSuffix(d.Reason, "heap out of memory") {
		t.Errorf("code %d, %+v, %s", code, d, stderr)
	}
}

// Node takes the compiled code that came with it only while V8's flags are those of then: what waits
// has them, and the heap its limit.
func TestNodeTakesItsOwnCode(t *testing.T) {
	const tag = "v8.cachedDataVersionTag()"
	for _, tc := range toolchains(t, newJavaScript()) {
		w := newBareWorld(t)
		src := Source{Code: []byte("const v8 = require('v8'); console.log(" + tag + ", v8.getHeapStatistics().heap_size_limit)")}
		plan, err := newJavaScript().Plan(tc, src, Resources{MemoryBytes: 512 << 20})
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := w.step(Step{Args: []string{tc.Program, "-p", tag}}, "")
		w.write(plan.Files)
		step, _ := plan.Run(nil)
		_, plain, _ := w.step(step, "")
		w.write(plan.Ahead[0].Files)
		code, got, stderr := w.step(plan.Ahead[0].Step, string(sandbox.Work{}.Encode()))
		_, limit, _ := strings.Cut(plain, " ")
		if got != "\x06"+strings.TrimSpace(want)+" "+limit || code != 0 || stderr != "" {
			t.Errorf("%s: it says %q and %q, exit code %d; plainly %q, with the flag %q", tc.Version, got, stderr, code, want, plain)
		}
	}
}

// Where a program may have other threads, nothing waits for it.
func TestMayHaveThreads(t *testing.T) {
	for source, want := range map[string]struct{ here, image bool }{
		"console.log('from here')":                                  {},
		"const fs = require('fs'); import('./other.mjs')":           {},
		"import fs, {x} from 'node:fs'; export * from \"../other\"": {},
		"module.exports = {\"type\": \"module\"}":                   {},
		"new (require('worker_threads').Worker)('x')":               {true, true},
		"require('module').register('./hooks.mjs')":                 {true, true},
		"import {register} from \"node:module\"; register('x')":     {true, true},
		"process.getBuiltinModule( `node:module` )":                 {true, true},
		"const pool = require('piscina')":                           {false, true},
		"import 'tsx'":                                              {false, true},
		"await import(`@scope/package`)":                            {false, true},
		strings.Repeat("require('fs'); ", maxImports):               {false, true},
	} {
		for in, may := range map[string]bool{"": want.here, "node:20": want.image} {
			if got := mayHaveThreads(Toolchain{Image: in}, map[string][]byte{"other.js": []byte(source)}); got != may {
				t.Errorf("%q: %v in image %q", source, got, in)
			}
		}
	}
}

// What a source names is loaded before it comes, if it is Node's own and makes no sound.
func TestNamedBuiltins(t *testing.T) {
	for source, want := range map[string][]string{
		"console.log(1)": nil,
		"const fs = require('fs'), p = require(\"node:path\"); require( 'fs' )":         {"fs", "path"},
		"import os from 'os'; import {x} from './fs'; export * from \"node:zlib\"":      {"os", "zlib"},
		"await import('node:fs/promises'); import 'crypto'":                             {"crypto", "fs/promises"},
		"require('punycode'); require('worker_threads'); require('lodash'); r('http');": nil,
	} {
		if got := namedBuiltins([]byte(source)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
		ahead := nodeAhead(Toolchain{}, []string{"node"}, "main.js", Source{}, []byte(source))
		if len(ahead) != 1+min(1, len(want)) || strings.Contains(string(ahead[len(ahead)-1].Files[aheadDir+"/ahead.cjs"]), "zlib") {
			t.Errorf("%s: %d ways to wait", source, len(ahead))
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node here")
	}
	all := slices.Concat(nodeConsole, nodeBuiltins)
	out, err := exec.CommandContext(t.Context(), node, append([]string{"-e", "for (const name of process.argv.slice(1)) require(name)"}, all...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("they make a sound: %v, %s", err, out)
	}
}
