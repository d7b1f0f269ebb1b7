package language

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// source makes files of name, content pairs.
func source(entry string, pairs ...string) Source {
	src := Source{Entry: entry, Files: map[string][]byte{}}
	for i := 0; i < len(pairs); i += 2 {
		src.Files[pairs[i]] = []byte(pairs[i+1])
	}
	return src
}

// execute runs a plan, with or without a compile phase.
func (w bareWorld) execute(l Language, tc Toolchain, src Source, stdin string) bareRun {
	w.t.Helper()
	plan, err := l.Plan(tc, src, testResources)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(plan.Files)
	if plan.Compile != nil {
		if code, stdout, stderr := w.step(*plan.Compile, ""); code != 0 {
			return bareRun{"compile", code, stdout, stderr}
		}
	}
	step, err := plan.Run(openTree(w.t, w.local(sandbox.BuildDir)))
	if err != nil {
		w.t.Fatal(err)
	}
	code, stdout, stderr := w.step(step, stdin)
	return bareRun{"run", code, stdout, stderr}
}

// oldestAndNewest are the toolchains between which the others lie.
func oldestAndNewest(t *testing.T, l Language) []Toolchain {
	found := toolchains(t, l)
	slices.SortFunc(found, func(a, b Toolchain) int { return compareVersions(a.Version, b.Version) })
	return slices.CompactFunc([]Toolchain{found[0], found[len(found)-1]}, func(a, b Toolchain) bool { return a.Program == b.Program })
}

func TestPythonPrograms(t *testing.T) {
	tests := []struct {
		name  string
		src   Source
		stdin string
		want  string
	}{
		{"code", Source{Code: []byte("import sys\nprint(6*7, sys.argv, __name__)"), Args: []string{"a", "-b"}}, "", "42 ['main.py', 'a', '-b'] __main__\n"},
		{"unicode everywhere", Source{Code: []byte("import sys\nprint('héllo 你好 🦀', sys.argv[1], input())\nopen('é','w').write('ü')\nprint(ascii(open('é').read()))"), Args: []string{"ñ"}}, "ß\n", "héllo 你好 🦀 ñ ß\n'\\xfc'\n"},
		{"modules beside the main file", source("", "main.py", "import a.b, c; print(a.b.x + c.x)", "a/b.py", "x = 1", "c.py", "x = 2"), "", "3\n"},
		{"a name of the standard library", source("", "main.py", "import colorsys; print(colorsys.mine)", "colorsys.py", "mine = 1"), "", "1\n"},
		{"the only file", source("", "tool.py", "print(__file__.endswith('/tool.py'))"), "", "True\n"},
		{"a package by convention", source("", "pkg/__main__.py", "from .m import x; print(x, __package__)", "pkg/__init__.py", "", "pkg/m.py", "x = 5"), "", "5 pkg\n"},
		{"a package by name", source("pkg", "main.py", "print('no')", "pkg/__main__.py", "print('yes')"), "", "yes\n"},
		{"a module by name", source("pkg.mod", "pkg/mod.py", "from . import x; print(x)", "pkg/__init__.py", "x = 7"), "", "7\n"},
		{"a nested package", source("a/b", "a/b/__main__.py", "print(__package__)"), "", "a.b\n"},
		{"a file in a directory", source("pkg/mod.py", "pkg/mod.py", "import other, sys; print(other.x, sys.argv[0])", "pkg/other.py", "x = 8"), "", "8 pkg/mod.py\n"},
		{"a program directory", source("", "__main__.py", "import m; print(m.x)", "m.py", "x = 9"), "", "9\n"},
		{"flags are the usual ones", Source{Code: []byte("import sys; f = sys.flags; print(f.isolated, f.no_site, f.no_user_site, f.ignore_environment, f.utf8_mode, 'site' in sys.modules)")}, "", "0 0 0 0 0 True\n"},
	}
	for _, tc := range oldestAndNewest(t, newPython()) {
		t.Run(tc.Version, func(t *testing.T) {
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					got := newBareWorld(t).execute(newPython(), tc, test.src, test.stdin)
					if got.code != 0 || got.stdout != test.want || got.stderr != "" {
						t.Errorf("code %d, stdout %q, stderr %q; want %q", got.code, got.stdout, got.stderr, test.want)
					}
				})
			}
		})
	}
}

func TestPythonPlanErrors(t *testing.T) {
	tests := []struct {
		src  Source
		want string
	}{
		{source("", "a.py", "", "b.py", ""), "call it main.py, or name the entry; there are a.py, b.py"},
		{source("", "notes.txt", ""), "no Python source (.py, .pyw) is among the files: notes.txt"},
		{source(""), "there are none"},
		{source("x.py", "main.py", ""), "the entry x.py is not among the files: main.py"},
		{source("pkg", "pkg/a.py", ""), "pkg has no __main__.py"},
		{source("../main.py", "main.py", ""), "is not among the files"},
	}
	for _, test := range tests {
		_, err := newPython().Plan(Toolchain{Program: "/usr/bin/python3", Version: "3.12.1"}, test.src, Resources{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

func TestPythonCommand(t *testing.T) {
	tests := []struct {
		version string
		src     Source
		want    []string
	}{
		{"3.12.1", Source{Code: []byte("1")}, []string{"/p", "main.py"}},
		{"3.13.0", Source{Code: []byte("1")}, []string{"/p", "-X", "cpu_count=2", "main.py"}},
		{"3.12.1", Source{Code: []byte("1"), Dir: "/tmp"}, []string{"/p", "/workspace/main.py"}},
		{"3.12.1", Source{Code: []byte("1"), Files: map[string][]byte{"main.py": []byte("2")}}, []string{"/p", "main.py"}},
	}
	for _, test := range tests {
		plan, err := newPython().Plan(Toolchain{Program: "/p", Version: test.version}, test.src, Resources{CPUs: 1.5})
		if err != nil {
			t.Fatal(err)
		}
		step, _ := plan.Run(nil)
		if diff := cmp.Diff(test.want, step.Args); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.version, diff)
		}
		if string(plan.Files["main.py"]) != "1" {
			t.Errorf("main.py is %q", plan.Files["main.py"])
		}
	}
}

// Every directory from which the interpreter would import third-party packages
// is hidden, and none of the standard library's.
func TestPythonPackagesAreHidden(t *testing.T) {
	const ask = `import sys, json, os
print(json.dumps([[p for p in sys.path if "packages" in p and os.path.isdir(p) and os.listdir(p)], os.__file__]))`
	for _, tc := range toolchains(t, newPython()) {
		output, err := exec.Command(tc.Program, "-s", "-c", ask).Output()
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			dirs   []string
			osFile string
		}
		if err := json.Unmarshal(output, &[]any{&answer.dirs, &answer.osFile}); err != nil {
			t.Fatal(err)
		}
		var hidden []string
		for _, m := range hidePackages(tc) {
			hidden = append(hidden, m.Target)
			if m.Source != "" || strings.HasPrefix(answer.osFile, m.Target+"/") {
				t.Errorf("%s: %+v hides the wrong thing", tc.Program, m)
			}
		}
		for _, dir := range answer.dirs {
			if !slices.Contains(hidden, dir) {
				t.Errorf("%s: %s is not hidden by %v", tc.Program, dir, hidden)
			}
		}
	}
}

func TestHideWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := []sandbox.Mount{{Target: dir}}
	if diff := cmp.Diff(want, hide(dir, file, file+"/within", dir+"/gone")); diff != "" {
		t.Errorf("hide (-want +got):\n%s", diff)
	}
}

func TestPythonDiagnose(t *testing.T) {
	pkg := func(code string) Source { return source("pkg", "pkg/__main__.py", code) }
	code := func(code string) Source { return Source{Code: []byte(code)} }
	tests := []struct {
		name   string
		src    Source
		want   Diagnosis
		oldest string // the wording is that of this version and later
	}{
		{"uncaught", code("1/0"), Diagnosis{Reason: "ZeroDivisionError: division by zero"}, ""},
		{"exit with words", code("import sys; sys.exit('no é')"), Diagnosis{Reason: "no é"}, ""},
		{"not closed", code("x = ("), Diagnosis{Reason: "'(' was never closed (main.py, line 1)", SyntaxError: true}, "3.10"},
		{"invalid", code("\nx = )"), Diagnosis{Reason: "unmatched ')' (main.py, line 2)", SyntaxError: true}, ""},
		{"indented", code("  x = 1"), Diagnosis{Reason: "unexpected indent (main.py, line 1)", SyntaxError: true}, ""},
		{"tabs", code("if 1:\n        x\n\ty"), Diagnosis{Reason: "inconsistent use of tabs and spaces in indentation (main.py, line 3)", SyntaxError: true}, ""},
		{"after a warning of the parser", code("print('\\d')\nx = )"), Diagnosis{Reason: "unmatched ')' (main.py, line 2)", SyntaxError: true}, ""},
		{"a package", pkg("x = )"), Diagnosis{Reason: "unmatched ')' (__main__.py, line 1)", SyntaxError: true}, ""},
		{"exec at run time", code("exec('x = )')"), Diagnosis{Reason: "SyntaxError: unmatched ')'"}, ""},
		{"exec in a package", pkg("exec('x = )')"), Diagnosis{Reason: "SyntaxError: unmatched ')'"}, ""},
		{"ast.parse", code("import ast; ast.parse('x = )')"), Diagnosis{Reason: "SyntaxError: unmatched ')'"}, ""},
		{"an imported module", source("", "main.py", "import m", "m.py", "x = )"), Diagnosis{Reason: "SyntaxError: unmatched ')'"}, ""},
		{"raised", code("raise SyntaxError('mine')"), Diagnosis{Reason: "SyntaxError: mine"}, ""},
		{"memory", code("raise MemoryError"), Diagnosis{Reason: "MemoryError", OutOfMemory: true}, ""},
		{"memory with words", code("raise MemoryError('x')"), Diagnosis{Reason: "MemoryError: x", OutOfMemory: true}, ""},
		{"disk", code("raise OSError(28, 'No space left on device')"), Diagnosis{Reason: "OSError: [Errno 28] No space left on device", DiskFull: true}, ""},
		{"threads", code(`raise RuntimeError("can't start new thread")`), Diagnosis{Reason: "RuntimeError: can't start new thread", NoProcesses: true}, ""},
		{"fork", code("def fork(): raise BlockingIOError(11, 'Resource temporarily unavailable')\nfork()"), Diagnosis{Reason: "BlockingIOError: [Errno 11] Resource temporarily unavailable", NoProcesses: true}, ""},
		{"spawn", code("def posix_spawn(): raise BlockingIOError(11, 'Resource temporarily unavailable', 'sleep')\nposix_spawn()"), Diagnosis{Reason: "BlockingIOError: [Errno 11] Resource temporarily unavailable: 'sleep'", NoProcesses: true}, ""},
		{"silent", code("import os; os._exit(3)"), Diagnosis{}, ""},
	}
	for _, tc := range oldestAndNewest(t, newPython()) {
		for _, test := range tests {
			t.Run(tc.Version+"/"+test.name, func(t *testing.T) {
				if test.oldest != "" && compareVersions(tc.Version, test.oldest) < 0 {
					t.Skipf("Python %s words it otherwise", tc.Version)
				}
				got := newBareWorld(t).execute(newPython(), tc, test.src, "")
				if got.code == 0 {
					t.Error("the program ended with 0")
				}
				if diff := cmp.Diff(test.want, newPython().Diagnose("run", got.stderr)); diff != "" {
					t.Errorf("%s\ndiagnosis (-want +got):\n%s", got.stderr, diff)
				}
			})
		}
	}
}

func TestPythonSourceThatIsNotUTF8(t *testing.T) {
	for _, tc := range oldestAndNewest(t, newPython()) {
		got := newBareWorld(t).execute(newPython(), tc, Source{Code: []byte("x = '\xff'\n")}, "")
		d := newPython().Diagnose("run", got.stderr)
		if !d.SyntaxError || !strings.HasPrefix(d.Reason, `Non-UTF-8 code starting with '\xff'`) {
			t.Errorf("%s: %+v", got.stderr, d)
		}
		got = newBareWorld(t).execute(newPython(), tc, Source{Code: []byte("# coding: zlib_codec\n")}, "")
		if d := newPython().Diagnose("run", got.stderr); !d.SyntaxError || d.Reason != "encoding problem: zlib_codec" {
			t.Errorf("%s: %+v", got.stderr, d)
		}
	}
}
