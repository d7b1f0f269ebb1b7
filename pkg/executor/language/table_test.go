package language

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func mustLookup(t *testing.T, name string) Language {
	t.Helper()
	lang, _, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return lang
}

// Each program prints its greeting, its arguments and its standard input.
func TestTablePrograms(t *testing.T) {
	tests := []struct {
		language string
		src      Source
	}{
		{"bash", source("", "main.sh", `. ./lib.sh; read -r line; echo "$(greet) $1 $line"`, "lib.sh", "greet() { echo 'héllo 你好 🦀'; }")},
		{"c", source("", "main.c", "#include <stdio.h>\n#include \"lib.h\"\nint main(int c, char **v) { char b[80]; scanf(\"%79s\", b); printf(\"%s %s %s\\n\", greet(), v[1], b); }",
			"lib.h", "const char *greet(void);", "sub/lib.c", "const char *greet(void) { return \"héllo 你好 🦀\"; }")},
		{"cpp", source("", "tool.cpp", "#include <iostream>\n#include <string>\nusing namespace std; string greet(); int main(int c, char **v) { string b; cin >> b; cout << greet() << ' ' << v[1] << ' ' << b << endl; }",
			"lib.cc", "#include <string>\nstd::string greet() { return \"héllo 你好 🦀\"; }")},
		{"ruby", source("", "main.rb", "require_relative 'lib'; puts \"#{greet} #{ARGV[0]} #{STDIN.gets.chomp}\"", "lib.rb", "def greet = 'héllo 你好 🦀'")},
		{"perl", source("", "main.pl", "use lib '.'; require './lib.pm'; chomp(my $l = <STDIN>); print greet(), \" $ARGV[0] $l\\n\"", "lib.pm", "sub greet { 'héllo 你好 🦀' } 1;")},
		{"php", source("", "main.php", "<?php require 'lib.php'; echo greet(), ' ', $argv[1], ' ', trim(fgets(STDIN)), PHP_EOL;", "lib.php", "<?php function greet() { return 'héllo 你好 🦀'; }")},
		{"lua", source("", "main.lua", "local l = require 'lib'; print(l.greet() .. ' ' .. arg[1] .. ' ' .. io.read())", "lib.lua", "return {greet = function() return 'héllo 你好 🦀' end}")},
	}
	for _, test := range tests {
		t.Run(test.language, func(t *testing.T) {
			lang := mustLookup(t, test.language)
			tc := toolchains(t, lang)[0]
			test.src.Args = []string{"ñ", "--flag"}
			got := newBareWorld(t).execute(lang, tc, test.src, "ß\n")
			if got.code != 0 || got.stdout != "héllo 你好 🦀 ñ ß\n" || got.stderr != "" {
				t.Errorf("%+v", got)
			}
			t.Logf("%s %s, %s", tc.Version, tc.Program, tc.Origin)
		})
	}
}

func TestTableDiagnose(t *testing.T) {
	tests := []struct {
		language, name, code string
		phase                string
		want                 Diagnosis
	}{
		{"bash", "status", "exit 3", "run", Diagnosis{}},
		{"bash", "no such command", "nope-nope", "run", Diagnosis{Reason: "main.sh: line 1: nope-nope: command not found"}},
		{"bash", "does not parse", "if true; then )", "run", Diagnosis{Reason: "main.sh: line 1: syntax error near unexpected token `)'", SyntaxError: true}},
		{"c", "does not parse", "int main(void) { return x; }", "compile", Diagnosis{Reason: "main.c:1:25: error: ‘x’ undeclared (first use in this function)"}},
		{"c", "does not link", "int f(void); int main(void) { return f(); }", "compile", Diagnosis{Reason: "undefined reference to `f'"}},
		{"c", "no such header", "#include <nope.h>", "compile", Diagnosis{Reason: "main.c:1:10: fatal error: nope.h: No such file or directory"}},
		{"cpp", "does not parse", "int main() { return x; }", "compile", Diagnosis{Reason: "main.cpp:1:21: error: ‘x’ was not declared in this scope"}},
		{"cpp", "does not parse what memory is about", "int main() { throw std::bad_alloc(; }", "compile", Diagnosis{Reason: "main.cpp:1:25: error: ‘bad_alloc’ is not a member of ‘std’"}},
		{"cpp", "uncaught", "#include <stdexcept>\nint main() { throw std::runtime_error(\"é\"); }", "run", Diagnosis{Reason: "é"}},
		{"cpp", "memory", "#include <new>\nint main() { throw std::bad_alloc(); }", "run", Diagnosis{Reason: "std::bad_alloc", OutOfMemory: true}},
		{"ruby", "uncaught", "def f = raise(ArgumentError, 'é')\nf", "run", Diagnosis{Reason: "main.rb:1:in `f': é (ArgumentError)"}},
		{"ruby", "does not parse", "x = )", "run", Diagnosis{Reason: "main.rb:1: syntax error, unexpected ')'", SyntaxError: true}},
		{"perl", "died", "die 'é'", "run", Diagnosis{Reason: "é at main.pl line 1."}},
		{"perl", "does not parse", "my $x = ;\n", "run", Diagnosis{Reason: `syntax error at main.pl line 1, near "= ;"`, SyntaxError: true}},
		{"perl", "undeclared", "use strict;\n$x = 1;\n", "run", Diagnosis{Reason: `Global symbol "$x" requires explicit package name (did you forget to declare "my $x"?) at main.pl line 2.`, SyntaxError: true}},
		{"perl", "memory", `my $n = 1 << 60; my $x = "x" x $n`, "run", Diagnosis{Reason: "Out of memory!", OutOfMemory: true}},
		{"perl", "words about memory", `die "Out of memory slots\n"`, "run", Diagnosis{Reason: "Out of memory slots"}},
		{"php", "uncaught", "<?php throw new Exception('é');", "run", Diagnosis{Reason: "Uncaught Exception: é in DIR/workspace/main.php:1"}},
		{"php", "does not parse", "<?php $x = ;", "run", Diagnosis{Reason: `syntax error, unexpected token ";" in DIR/workspace/main.php on line 1`, SyntaxError: true}},
		{"lua", "uncaught", "local x = nil; x()", "run", Diagnosis{Reason: "main.lua:1: attempt to call a nil value (local 'x')"}},
		{"lua", "does not parse", "x = )", "run", Diagnosis{Reason: "main.lua:1: unexpected symbol near ')'", SyntaxError: true}},
		{"lua", "memory", "io.read(1 << 50)", "run", Diagnosis{Reason: "not enough memory", OutOfMemory: true}},
		{"lua", "words about memory", "error('not enough memory')", "run", Diagnosis{Reason: "main.lua:1: not enough memory"}},
		{"lua", "loads what does not parse", "assert(load('x = )'))", "run", Diagnosis{Reason: `main.lua:1: [string "x = )"]:1: unexpected symbol near ')'`}},
	}
	for _, test := range tests {
		t.Run(test.language+"/"+test.name, func(t *testing.T) {
			lang := mustLookup(t, test.language)
			w := newBareWorld(t)
			got := w.execute(lang, toolchains(t, lang)[0], Source{Code: []byte(test.code)}, "")
			if got.code == 0 || got.phase != test.phase {
				t.Errorf("%s ended with %d", got.phase, got.code)
			}
			d := lang.Diagnose(got.phase, got.stderr)
			d.Reason = strings.ReplaceAll(d.Reason, w.dir, "DIR")
			if diff := cmp.Diff(test.want, d); diff != "" {
				t.Errorf("%s%s\ndiagnosis (-want +got):\n%s", got.stdout, got.stderr, diff)
			}
		})
	}
}

func TestTableCommand(t *testing.T) {
	tc := Toolchain{Program: "/usr/bin/gcc"}
	plan, err := mustLookup(t, "c").Plan(tc, source("", "-o.c", "", "@x.c", "", "b.c", "", "b.h", ""), Resources{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/usr/bin/gcc", "-O2", "-o", "/build/main", "./-o.c", "./@x.c", "b.c", "-lm", "-pthread"}
	if diff := cmp.Diff(want, plan.Compile.Args); diff != "" {
		t.Errorf("compile (-want +got):\n%s", diff)
	}
	plan, err = mustLookup(t, "bash").Plan(tc, Source{Code: []byte("x"), Dir: "/tmp", Args: []string{"{main}", "{args}"}}, Resources{})
	if err != nil {
		t.Fatal(err)
	}
	step, _ := plan.Run(nil)
	want = []string{"/usr/bin/gcc", "/workspace/main.sh", "{main}", "{args}"}
	if diff := cmp.Diff(want, step.Args); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if _, err := mustLookup(t, "c").Plan(tc, source("", "a.h", ""), Resources{}); err == nil {
		t.Error("a header alone is a program")
	}
}

func TestTableMounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"etc/8.2/cli/php.ini", "etc/8.2/fpm/php.ini", "share/perl5/X.pm"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := tableLanguage{tableEntry{Extensions: []string{".x"}, Entries: []string{"main.x"}, Run: []string{"x"},
		Files: []string{dir + "/etc/*/cli"}, Hide: []string{dir + "/share/*", dir + "/gone"}}}
	plan, err := l.Plan(Toolchain{}, Source{Code: []byte("x")}, Resources{})
	want := []sandbox.Mount{{Source: dir + "/etc/8.2/cli", Optional: true}, {Target: dir + "/share/perl5"}}
	if diff := cmp.Diff(want, plan.Mounts); err != nil || diff != "" {
		t.Errorf("%v, mounts (-want +got):\n%s", err, diff)
	}
}

const minimalEntry = `- name: x
  title: X
  extensions: [.x]
  entries: [main.x]
  install: a
  elsewhere: b
  programs: [x]
  version: {args: [-v], pattern: 'X (\d+)'}
  run: ["{program}", "{main}", "{args}"]
`

func TestParseTable(t *testing.T) {
	if languages, err := parseTable([]byte(minimalEntry)); err != nil || len(languages) != 1 {
		t.Fatalf("%v, %v", languages, err)
	}
	tests := []struct{ old, new, want string }{
		{"name: x", "name: ''", "entry 1 (): name is missing"},
		{"  title: X\n", "", "entry 1 (x): title is missing"},
		{"[.x]", "[x]", "the extension x does not start with a dot"},
		{"entries: [main.x]", "entries: []", "entries is missing"},
		{"  install: a\n", "", "install is missing"},
		{"  elsewhere: b\n", "", "elsewhere is missing"},
		{"programs: [x]", "programs: []", "programs is missing"},
		{", pattern: 'X (\\d+)'", "", "version.pattern is missing"},
		{"X (\\d+)", "X (", "missing closing )"},
		{"\"{main}\"", "\"{mian}\"", "unknown placeholder {mian} in \"{mian}\""},
		{"\"{args}\"", "\"x{args}\"", "{args} must stand alone, not in \"x{args}\""},
		{"\"{main}\"", "\"{build}/main\"", "run uses {build}, but there is no compile"},
		{"title: X", "title: X\n  colour: red", "field colour not found"},
		{"title: X", "title: X\n  aliases: [x]", "the name x is taken"},
		{"title: X", "title: [X]", "cannot unmarshal"},
	}
	for _, test := range tests {
		broken := strings.Replace(minimalEntry, test.old, test.new, 1)
		if broken == minimalEntry {
			t.Fatalf("%q is not in the entry", test.old)
		}
		if _, err := parseTable([]byte(broken)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q → %q: error %v, want %s", test.old, test.new, err, test.want)
		}
	}
	if _, err := parseTable([]byte(minimalEntry + minimalEntry)); err == nil {
		t.Error("a language is there twice")
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(minimalEntry))
	f.Add(languagesYAML)
	f.Fuzz(func(t *testing.T, data []byte) {
		languages, err := parseTable(data)
		if err != nil && languages != nil {
			t.Error("both languages and an error")
		}
		for _, l := range languages {
			l.Diagnose("run", "x")
			l.Info()
		}
	})
}

// The table is not read while a language with code of its own is meant.
func TestTableIsLazy(t *testing.T) {
	_, ok := firstOf(func(i Info) bool { return i.Name == "python" }, coded, func() []Language {
		t.Error("the table was read")
		return nil
	})
	if !ok {
		t.Error("python was not found")
	}
}
