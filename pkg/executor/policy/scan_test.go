package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

func modules(imports []Import) []string {
	var names []string
	for _, i := range imports {
		names = append(names, i.Module)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// scanOne scans one file, by the default rules.
func scanOne(language, code string) Findings {
	return Scan(context.Background(), language, map[string][]byte{"main": []byte(code)}, "main", NewList(language, DefaultRules()))
}

func TestScanBlocked(t *testing.T) {
	for _, c := range []struct{ language, name, code, want string }{
		{"go", "plain", `package main; import "os"`, "os"},
		{"go", "alias, dot and blank", "package main\nimport (\n\tx \"os/exec\"\n\t. \"net\"\n\t_ \"unsafe\"\n)", "net os unsafe"},
		{"go", "raw string", "package main; import `syscall`", "syscall"},
		{"go", "cgo", `package main; import "C"`, "C"},
		{"go", "below a module", `package main; import "net/http"`, "net"},
		{"go", "not below", `package main; import ("fmt"; "osx"; "io"; "example.com/os")`, ""},
		{"go", "comments and strings", "package main\n// import \"os\"\n/* import \"net\" */\nvar s = `import \"os\"`", ""},
		{"go", "line comments lie", "package main\n//line x.go:1\nimport \"os\"", "os"},
		{"go", "broken after the imports", "package main\nimport \"os\"\nfunc {{{", "os"},

		{"rust", "use", "use std::fs;", "std::fs"},
		{"rust", "tree", "use std::{io::{self, Read}, process::Command as C, net::*};", "std::net std::process"},
		{"rust", "root tree", "use {std::fs::File, ::std::net};", "std::fs std::net"},
		{"rust", "inline", "fn main() { ::std::process::exit(1) }", "std::process"},
		{"rust", "in a macro", `fn main() { println!("{}", std::fs::read("x").len()) }`, "std::fs"},
		{"rust", "blanks within", "fn main() { std /* : */ ::\n process\n::exit(1) }", "std::process"},
		{"rust", "raw identifiers", "fn main() { r#std::r#process::exit(1) }", "std::process"},
		{"rust", "crate", "extern crate libc;", "libc"},
		{"rust", "crate as", "extern crate std as s; fn f() { s::fs::read(\"x\"); }", "std::fs"},
		{"rust", "alias", "use std as s; fn f() { s::fs::read(\"x\"); }", "std::fs"},
		{"rust", "self as", "use std::{self as s}; fn f() { s::net::f(); }", "std::net"},
		{"rust", "glob", "use std::*; fn f() { fs::read(\"x\"); }", "std::fs"},
		{"rust", "comments", "// use std::fs;\n/* /* use std::net; */ use std::process; */ //! std::fs::x\nfn main() {}", ""},
		{"rust", "strings", `fn main() { let a = "use std::fs;\" std::net::x"; let b = r#"std::fs::x" std::net::y"#; let c = b"std::fs::q"; let d = br##"std::fs::"#"##; }`, ""},
		{"rust", "characters and lifetimes", `fn f<'a>(x: &'a str) -> char { let q = '"'; let e = '\''; let u = '\u{22}'; 'l: loop { break 'l } std::fs::q(); '"' }`, "std::fs"},
		{"rust", "own module", "mod process { pub fn exit() {} } fn main() { process::exit(); crate::std::fs::x(); my::std::fs::y(); }", ""},
		{"rust", "other crates", "use libcx::a; use mystd::fs;", ""},

		{"java", "import", "import java.net.URL; class A {}", "java.net"},
		{"java", "package", "import java.net.*; class A {}", "java.net"},
		{"java", "static", "import static java.lang.Runtime.getRuntime; class A {}", "java.lang.Runtime"},
		{"java", "static of all", "import static java.nio.file.Files.*; class A {}", "java.nio.file"},
		{"java", "in full", "class A { Object o = new java.lang.ProcessBuilder(); java . net /* x */ . URL u; }", "java.lang.ProcessBuilder java.net"},
		{"java", "without an import", "class A { void f() { Runtime.getRuntime(); new ProcessBuilder(); } }", "java.lang.ProcessBuilder java.lang.Runtime"},
		{"java", "glob", "import java.io.*; class A { void f() { new FileReader(\"x\"); new BufferedReader(null); } }", "java.io.FileReader"},
		{"java", "glob that is not used", "import java.io.*; class A { BufferedReader r; }", ""},
		{"java", "module", "import module java.base; class A { File f; }", "java.io.File"},
		{"java", "unicode escapes", `\u0069mport java.n\u0065t.URL; class A {}`, "java.net"},
		{"java", "comments", "// import java.net.URL;\n/* import java.net.URL; */\nclass A {}", ""},
		{"java", "strings", `class A { String s = "import java.net.URL;\" Runtime"; char c = '"'; String t = """
			java.net.URL " Runtime
			"""; }`, ""},
		{"java", "own class", "class Runtime { static void f() {} } class A { void g() { Runtime.f(); } }", ""},
		{"java", "imported by name", "import my.Runtime; class A { void g() { Runtime.f(); } }", ""},
		{"java", "a member", "class A { void g() { x().Runtime.f(); this.java.net.URL(); } }", ""},

		{"javascript", "import", "import fs from 'fs'", "fs"},
		{"javascript", "for its effects", "import 'node:fs'", "fs"},
		{"javascript", "names", "import d, * as x from \"net\"; import {a as b, 'c d' as e} from \"tls\"", "net tls"},
		{"javascript", "export from", "export * from 'os'; export {x} from 'vm'; export * as y from 'dns'", "dns os vm"},
		{"javascript", "attributes", "import x from 'fs' with {type: 'json'}", "fs"},
		{"javascript", "dynamic", "await import('child_process'); import(`node:fs/promises`, {})", "child_process fs"},
		{"javascript", "require", "const a = require('fs'), b = require (\n`os`), c = module.require('net')", "fs net os"},
		{"javascript", "optional", "require?.('fs')", "fs"},
		{"javascript", "put together", "require('child' + '_process')", "child_process"},
		{"javascript", "escapes", `require('\x66\u0073'); requ\u0069re('o\
s')`, "fs os"},
		{"javascript", "other ways", "process.getBuiltinModule('fs'); process.binding('net')", "fs net"},
		{"javascript", "not constant", "require(x); require('a' + x); require(`${x}fs`); import(x)", ""},
		{"javascript", "own file", "require('./fs'); import '../os.js'; require('fs-extra')", ""},
		{"javascript", "comments", "// require('fs')\n/* import 'os' */ <!-- require('net')\n--> require('tls')\n", ""},
		{"javascript", "strings", "'require(\"fs\")'; \"import 'os'\"; `require('net') ${1} import('tls')`", ""},
		{"javascript", "in a template", "`a ${`b ${require('fs')}` + {}} c ${require('os')}` + require('net')", "fs net os"},
		{"javascript", "regular expressions", "x = /require('fs')/; y = /[/]require('os')\\//g; if (a) /require('net')/.test(b); return /'/", ""},
		{"javascript", "after one", "x = /'/; require('fs'); y = /[\"/]/; require('os'); /`/.test(z), require('net')", "fs net os"},
		{"javascript", "divisions", "a = b / c; require('fs'); d = (e) / f / g; h = i[0] / 2; j++ / 2; require('os') / '", "fs os"},
		{"javascript", "after a block", "{ } /require('fs')/.test(x); function f() {} /'/.test(y); require('os')", "os"},
		{"javascript", "after an object", "x = {a: {}} / 2; require('fs') / 3", "fs"},
		{"javascript", "properties", "x.import('fs'); y = {import: 'fs', export: 'os'}; z.export", ""},
		{"javascript", "a name", "importance('fs'); myrequire('os'); requires('net'); $require('vm')", ""},
		{"javascript", "hashbang", "#!/usr/bin/env node ' \nrequire('fs')", "fs"},
		{"javascript", "meta", "import.meta.url; import.meta.resolve('fs')", ""},
		{"javascript", "broken", "import {{{ from; import from from 'fs'", "fs"},
		{"javascript", "unfinished string", "x = 'abc\nrequire('fs')", "fs"},
	} {
		t.Run(c.language+"/"+c.name, func(t *testing.T) {
			if got := strings.Join(scanOne(c.language, c.code).Blocked, " "); got != c.want {
				t.Errorf("%s\nblocked %q, want %q", c.code, got, c.want)
			}
		})
	}
}

func TestScanImports(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"go", "package main\n\nimport \"fmt\"\n", "fmt"},
		{"rust", "use std::io::Read;\nfn main() { a::b(); std::fs::read(1); }", "std::fs std::io::Read"},
		{"java", "import java.util.*;\nimport static a.B.c;\nclass A { java.net.URL u; }", "a.B.c java.net java.util"},
		{"javascript", "require('./a'); import 'b'", "./a b"},
	} {
		if got := strings.Join(modules(scanOne(c.language, c.code).Imports), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.language, got, c.want)
		}
	}
	for _, language := range []string{"go", "rust", "java", "javascript"} {
		code := map[string]string{
			"go": "package main\n//line x.go:1\n\nimport \"net\"", "rust": "/*\n\n*/\nuse std::net;", "java": "/*\n\n*/\nimport java.net.URL;", "javascript": "`\n`\n/**/\nrequire('net')",
		}[language]
		if got := scanOne(language, code).Imports; len(got) != 1 || got[0].Line != 4 || got[0].File != "main" {
			t.Errorf("%s: %+v, want line 4", language, got)
		}
	}
}

// All files of a project count, and no others.
func TestScanFiles(t *testing.T) {
	files := map[string][]byte{"a/x.js": []byte("require('fs')"), "tool": []byte("require('os')"), "data.txt": []byte("require('net')"), "X.MJS": []byte("import 'vm'")}
	got := Scan(t.Context(), "javascript", files, "tool", NewList("javascript", DefaultRules()))
	if want := []string{"fs", "os", "vm"}; !slices.Equal(got.Blocked, want) {
		t.Errorf("%v, want %v", got.Blocked, want)
	}
}

// A type of the program's own stands before those that need no import, or came with a *, in all
// files of its package and in no others; what is named in full or imported by name is as written.
func TestScanOwnTypes(t *testing.T) {
	const process, file = "class Process { Process(int n) {} class Runtime {} }", "package a; enum File { A }"
	for _, c := range []struct{ name, process, main, want string }{
		{"same package", process, "class Main { Process p = new Process(1); }", ""},
		{"a type within a type", process, "class Main { Runtime r; }", "java.lang.Runtime"},
		{"another type", process, "class Main { ProcessBuilder p; }", "java.lang.ProcessBuilder"},
		{"another package", process, "package b; class Main { Process p; }", "java.lang.Process"},
		{"a package below", "package a;" + process, "package a.b; class Main { Process p; }", "java.lang.Process"},
		{"a named package", "package a;" + process, "/* */ package a ; class Main { Process p; }", ""},
		{"imported by name", process, "import java.lang.Process; class Main { Process p; }", "java.lang.Process"},
		{"in full", process, "class Main { java.lang.Process p; }", "java.lang.Process"},
		{"a glob", file, "package a; import java.io.*; class Main { File f; }", ""},
		{"a glob elsewhere", file, "import java.io.*; class Main { File f; }", "java.io.File"},
		{"a module", file, "package a; import module java.base; class Main { File f; }", ""},
		{"a comment", "// " + process, "class Main { Process p; }", "java.lang.Process"},
	} {
		files := map[string][]byte{"Process.java": []byte(c.process), "Main.java": []byte(c.main), "notes.txt": []byte("class ProcessBuilder {}")}
		got := Scan(t.Context(), "java", files, "", NewList("java", DefaultRules()))
		if strings.Join(got.Blocked, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Blocked, c.want)
		}
	}
}

// What is not compiled, or seen by nobody else, hides nothing.
func TestScanOthersTypes(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"a test in a tree of Maven's":   {"src/main/java/Main.java": []byte("class Main { Runtime r; }"), "src/test/java/Runtime.java": []byte("class Runtime {}")},
		"a member of an implicit class": {"Main.java": []byte("class Main { Runtime r; }"), "A.java": []byte("class Runtime {} void main() {}")},
		"the same, generic":             {"Main.java": []byte("class Main { Runtime r; }"), "A.java": []byte("List<String> f() { return null; } class Runtime {}")},
	} {
		if got := Scan(t.Context(), "java", files, "", NewList("java", DefaultRules())); strings.Join(got.Blocked, " ") != "java.lang.Runtime" {
			t.Errorf("%s: %q", name, got.Blocked)
		}
	}
}

// Source that is written to be expensive is not: its names are counted, and it says so.
func TestScanBounds(t *testing.T) {
	for language, code := range map[string]string{
		"rust":       "use a::{" + strings.Repeat("b::{", 300_000),
		"java":       strings.Repeat("a.", 500_000),
		"javascript": strings.Repeat("{`${(", 300_000),
	} {
		scanOne(language, code)
	}
	if got := scanOne("javascript", strings.Repeat("require('a')\n", maxNames+1)); got.Incomplete == "" {
		t.Error("more imports than are remembered, and not a word")
	}
}

// The work grows with the names, and not with their number times that of the aliases or
// globs: a request of 16 MiB would take hours.
func TestScanIsLinear(t *testing.T) {
	const each = maxNames / 5
	var aliases, globs, deep strings.Builder
	for i := range each {
		fmt.Fprintf(&aliases, "use std::m%d as x; fn f%d() { x::y%d(); }\n", i, i, i)
		fmt.Fprintf(&globs, "import a%d.*; class A%d { b.C%d x; }\n", i, i, i)
		fmt.Fprintf(&deep, "use std::fs::m%d as x; fn f%d() { x::y%d(); }\n", i, i, i)
	}
	for _, c := range []struct{ language, code, blocked string }{{"rust", aliases.String(), ""}, {"java", globs.String(), ""}, {"rust", deep.String(), "std::fs"}} {
		list := NewList(c.language, DefaultRules())
		left := maxSteps
		scanners[c.language].scan("main", []byte(c.code)).qualified("main", list, &left)
		if steps := maxSteps - left; steps > 20*maxNames {
			t.Errorf("%s: %d steps for %d names", c.language, steps, maxNames)
		}
		if got := scanOne(c.language, c.code); got.Incomplete != "" || strings.Join(got.Blocked, " ") != c.blocked {
			t.Errorf("%s: %q, %q", c.language, got.Blocked, got.Incomplete)
		}
	}
}

// Rules that are there to make work end it as well, and what was not looked at is not
// held to be harmless.
func TestScanGivesUp(t *testing.T) {
	rules, code := []Rule{}, strings.Builder{}
	for i := range 100 {
		rules = append(rules, Rule{"java", strings.Repeat(fmt.Sprintf("a%d.", i), 50) + "b"})
		for depth := range 49 {
			fmt.Fprintf(&code, "import %sa%d.*;\n", strings.Repeat(fmt.Sprintf("a%d.", i), depth), i)
		}
	}
	for i := range 10_000 {
		fmt.Fprintf(&code, "class B%d { c.x%d y; }\n", i, i)
	}
	files := map[string][]byte{"Main.java": []byte(code.String())}
	list := NewList("java", rules)
	if got := Scan(t.Context(), "java", files, "", list); !strings.Contains(got.Incomplete, "the last that was read is Main.java") {
		t.Errorf("%d imports, %q", len(got.Imports), got.Incomplete)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Scan(ctx, "java", files, "", list); len(got.Imports) > 0 || got.Incomplete == "" {
		t.Errorf("read for nobody: %d imports, %q", len(got.Imports), got.Incomplete)
	}
}

// What is in a module that a rule blocks is that rule's, and not one's about what has
// only the end of its name.
func TestScanOfAnAliasBelowARule(t *testing.T) {
	list := NewList("rust", []Rule{{"rust", "d"}, {"rust", "d::c"}})
	for code, want := range map[string]string{
		"use d::x as a; fn f() { a::c(); }": "d", "use d as a; fn f() { a::c(); }": "d d::c", "use e as a; fn f() { a::c(); }": "",
	} {
		got := Scan(t.Context(), "rust", map[string][]byte{"main.rs": []byte(code)}, "", list)
		if strings.Join(got.Blocked, " ") != want {
			t.Errorf("%s: %q, want %q", code, got.Blocked, want)
		}
	}
}

// oracle asks esbuild, which parses.
func oracle(code string) (imports []string, ok bool) {
	result := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: code, Loader: api.LoaderJS, Sourcefile: "main.js"},
		Bundle: true, Format: api.FormatESModule, LogLevel: api.LogLevelSilent, Platform: api.PlatformNode, TreeShaking: api.TreeShakingFalse,
		Plugins: []api.Plugin{{Name: "imports", Setup: func(b api.PluginBuild) {
			b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				switch a.Kind {
				case api.ResolveJSImportStatement, api.ResolveJSRequireCall, api.ResolveJSDynamicImport:
					imports = append(imports, a.Path)
				}
				return api.OnResolveResult{External: true, Path: a.Path}, nil
			})
		}}},
	})
	slices.Sort(imports)
	return slices.Compact(imports), len(result.Errors) == 0
}

// Of real programs we find exactly what a parser finds.
func TestCorpus(t *testing.T) {
	names, _ := filepath.Glob("../../../test/programs/javascript/testdata/*/*.*js")
	for _, name := range names {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := oracle(string(code))
		if got := modules(scanOne("javascript", string(code)).Imports); !slices.Equal(got, want) {
			t.Errorf("%s: %q, esbuild says %q", name, got, want)
		}
	}
	if len(names) < 50 {
		t.Errorf("%d programs", len(names))
	}
}

func FuzzJavaScript(f *testing.F) {
	for _, code := range []string{
		"import a from 'b'", "x = /'/; require(\"c\")", "`${require('d')}`", "a = {} / 2 / require('e')", "if (a) /re/.test(`${b}`)",
		"for (const x of y) { import('f') }", "class A { static { require('g') } #p = 1; get import() {} }", "a\n++\n/b/g", "x => {}\n/a'/.test(require('h'))",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		code = strings.ToValidUTF8(code, "\uFFFD") // as Node reads a file
		got := modules(scanOne("javascript", code).Imports)
		if len(code) > 2000 { // esbuild recurses
			return
		}
		want, ok := oracle(code)
		for _, module := range want {
			if ok && !slices.Contains(got, module) && module != "" {
				t.Errorf("esbuild finds %q in %q, and we %q", module, code, got)
			}
		}
	})
}

func fuzzComments(f *testing.F, language, comment, str string) {
	f.Add("x", "y")
	f.Fuzz(func(t *testing.T, code, other string) {
		scanOne(language, code)
		for before := ""; before != other; { // what is taken out may leave another
			before = other
			for _, bad := range []string{"*/", "/*", "\n", "\r", "\u2028", "\u2029", `"`, `\`, "`"} {
				other = strings.ReplaceAll(other, bad, "")
			}
		}
		quiet := strings.ReplaceAll(comment, "%", other) + "\n" + strings.ReplaceAll(str, "%", other)
		if got := scanOne(language, quiet); len(got.Blocked) > 0 {
			t.Errorf("%q: %v", quiet, got.Blocked)
		}
	})
}

func FuzzRust(f *testing.F) {
	fuzzComments(f, "rust", "// std::fs::x %\n/* % /* std::net::x */ std::fs::y % */", "const A: &str = \"std::fs::x %\"; const B: &str = r#\"std::fs::x % \"; std::fs::y\"#;")
}

func FuzzJava(f *testing.F) {
	fuzzComments(f, "java", "// import java.net.URL; %\n/* import java.net.URL; % */", "class A { String s = \"java.net.URL %\"; String t = \"\"\"\n Runtime % \"\"\"; }")
}

func FuzzGo(f *testing.F) {
	fuzzComments(f, "go", "package main\n// import \"os\" %\n/* import \"os\" % */", "var x = \"import os %\"\nvar y = `\nimport \"os\"`")
}

func FuzzParseRules(f *testing.F) {
	f.Add("os, go:os/exec,+x")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(text)
		for _, r := range rules {
			if err == nil && r.Module == "" {
				t.Errorf("%q: a rule without a module", text)
			}
		}
		for language := range separators {
			NewList(language, rules).Match(text)
		}
	})
}
