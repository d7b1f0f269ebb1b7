package language

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestGo shares one prepared standard library among all runs.
func TestGo(t *testing.T) {
	golang := newGo()
	tc := toolchains(t, golang)[0]
	cache := t.TempDir()
	if !testing.Short() {
		t.Run("prepare", func(t *testing.T) { testGoPrepare(t, tc, cache) })
	}
	for _, c := range goPrograms {
		t.Run(c.name, func(t *testing.T) {
			w := newBareWorld(t)
			w.cache = cache
			got := w.run(golang, tc, c.src, c.stdin)
			if got.phase != c.phase || got.stdout != c.stdout {
				t.Errorf("phase %s, stdout %q, stderr %q, want phase %s, stdout %q", got.phase, got.stdout, got.stderr, c.phase, c.stdout)
			}
			want := strings.ReplaceAll(c.reason, "GOVERSION", tc.Version)
			if d := golang.Diagnose(got.phase, got.stderr); d.Reason != want {
				t.Errorf("reason %q, want %q, of %q", d.Reason, want, got.stderr)
			}
			for _, name := range w.workspace() {
				if !strings.HasSuffix(name, ".go") && c.src.Files[name] == nil {
					t.Errorf("%s was left in the workspace", name)
				}
			}
		})
	}
}

// testGoPrepare proves that a later build compiles nothing of the standard
// library, and that the go command will let the cache be.
func testGoPrepare(t *testing.T, tc Toolchain, cache string) {
	w := newBareWorld(t)
	w.cache = cache
	if !takePrepared(t, tc, cache) {
		if code, stdout, stderr := w.step(goCache(tc).Prepare, ""); code != 0 {
			t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
		}
	}
	checkAhead(t, cache)
	program := `package main
import ("crypto/tls"; "encoding/json"; "fmt"; "go/types"; "net/http"; "os/user"; "net")
func main() { fmt.Println(tls.VersionTLS13, json.Valid(nil), http.MethodGet, types.Typ[0], net.IPv4zero, user.UnknownUserError("")) }
`
	plan, err := newGo().Plan(tc, Source{Code: []byte(program)}, testResources)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "workspace/main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	verbose := *plan.Compile
	verbose.Args = slices.Concat([]string{tc.Program, "build", "-v"}, goBuildFlags(), []string{"-o", goBinary, "./main.go"}) // names what is compiled
	code, _, stderr := w.step(verbose, "")
	if code != 0 || strings.TrimSpace(stderr) != "command-line-arguments" {
		t.Errorf("exit code %d, compiled:\n%s", code, stderr)
	}
	testGoDirect(t, tc, w)
}

// takePrepared takes over what the same step has made in the sandbox for all suites, if it
// has: it takes most of a minute.
func takePrepared(t *testing.T, tc Toolchain, cache string) bool {
	t.Helper()
	from := os.Getenv("SANDBOX_TEST_PREPARED")
	if from = filepath.Join(from, "cache/build", goCache(tc).Key); !isDir(from) {
		return false
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "--archive", from+"/.", cache).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return true
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// testGoDirect compares what is made without the go command to what that makes.
func testGoDirect(t *testing.T, tc Toolchain, w bareWorld) {
	program := []byte(`package main

import ("fmt"; "os"; "runtime"; "runtime/debug")

func main() {
	info, _ := debug.ReadBuildInfo()
	_, file, line, _ := runtime.Caller(0)
	fmt.Println(info, file, line, runtime.Version(), len(os.Args))
	fmt.Printf("%s", debug.Stack()[:20])
}
`)
	plan, err := newGo().Plan(tc, Source{Code: program}, testResources)
	if err != nil {
		t.Fatal(err)
	}
	w.write(plan.Files)
	directly, otherwise, both := strings.Cut(plan.Compile.Args[2], " && exit\n")
	if !both {
		t.Fatalf("it is built by %q", plan.Compile.Args)
	}
	mark, own := w.local(goCacheDir+"/writable"), w.local(goOwnCache)
	var said []string
	for _, script := range []string{directly, "dir=$PWD\n" + otherwise, "dir=$PWD\n" + otherwise} {
		step := *plan.Compile
		step.Args = append([]string{"/bin/sh", "-c", script}, plan.Compile.Args[3:]...)
		if code, stdout, stderr := w.step(step, ""); code != 0 || stderr != "" {
			t.Fatalf("%s: exit code %d: %s%s", script, code, stdout, stderr)
		}
		run, err := plan.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := w.step(run, "")
		if said = append(said, stdout); code != 0 || stderr != "" {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		if exists, last := isDir(own), len(said) == 3; exists != last {
			t.Errorf("after %d builds, a cache of its own: %v", len(said), exists)
		}
		if len(said) == 2 { // even root cannot write to the third's
			if err := errors.Join(os.Remove(mark), os.Mkdir(mark, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(mark); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(said[1], said[2]); diff != "" {
		t.Errorf("with a cache of its own:\n%s", diff)
	}
	if diff := cmp.Diff(said[1], said[0]); diff != "" || !strings.Contains(said[0], "-ldflags=-w") {
		t.Errorf("the go command's, and + ours:\n%s\n%s", diff, said[0])
	}
	for name, files := range map[string]map[string][]byte{
		"settings": texts("main.go", "//go:debug panicnil=1\npackage main\nfunc main() {}\n"),
		"profile":  texts("main.go", "package main\nfunc main() {}\n", "default.pgo", ""),
		"module":   texts("main.go", "package main\nfunc main() {}\n", "go.mod", "module m\n"),
	} {
		plan, err := newGo().Plan(tc, Source{Files: files}, testResources)
		if err != nil || plan.Compile.Args[0] != tc.Program {
			t.Errorf("%s: %q, %v", name, plan.Compile.Args, err)
		}
	}
}

// checkAhead fails for files that a build would refresh, because they are older
// than an hour then, or remove.
func checkAhead(t *testing.T, dir string) {
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		info, err := entry.Info()
		if err == nil && info.ModTime().UTC().Year() != 2037 {
			t.Errorf("%s is of %s", path, info.ModTime())
		}
		return err
	})
	if err != nil || files < 1000 {
		t.Errorf("%d files in the cache, %v", files, err)
	}
}

type programCase struct {
	name          string
	src           Source
	stdin, stdout string
	phase, reason string
	needs         string // the least version of the toolchain; empty is any
}

func texts(pairs ...string) map[string][]byte {
	files := make(map[string][]byte)
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = []byte(pairs[i+1])
	}
	return files
}

var goPrograms = []programCase{
	{
		name: "unicode everywhere",
		src: Source{Code: []byte(`#!/usr/bin/env -S go run
package main

import ("bufio"; "fmt"; "os"; "runtime")

func main() {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Println("héllo 你好 🦀", os.Args[1:], line, runtime.GOMAXPROCS(0), os.Getenv("GOMEMLIMIT"))
}
`), Args: []string{"ärg 你好", "-v"}},
		stdin:  "in 🦀",
		stdout: "héllo 你好 🦀 [ärg 你好 -v] in 🦀 1 483183821\n",
		phase:  "run",
	},
	{
		name: "files of one package, one of another system, a test and an embedded text",
		src: Source{Files: texts(
			"main.go", "package main\nimport \"fmt\"\nfunc main() { fmt.Print(name(), text) }\n",
			"name_linux.go", "package main\nfunc name() string { return \"linux \" }\n",
			"name_windows.go", "package main\nfunc name() string { return \"windows \" }\n",
			"old.go", "//go:build ignore\n\npackage main\nfunc name() string { return \"old \" }\n",
			"main_test.go", "package main\nfunc name() string { return \"test \" }\n",
			"embed.go", "package main\nimport _ \"embed\"\n//go:embed text.txt\nvar text string\n",
			"text.txt", "embedded",
		)},
		stdout: "linux embedded",
		phase:  "run",
	},
	{
		name: "a module with its program below cmd",
		src: Source{Files: texts(
			"go.mod", "module example.com/m\n\ngo 1.21\n\ntoolchain go1.99.0\n",
			"greet/greet.go", "package greet\nfunc Hi() string { return \"hi\" }\n",
			"cmd/x/main.go", "package main\nimport (\"fmt\"; \"example.com/m/greet\")\nfunc main() { fmt.Print(greet.Hi()) }\n",
		)},
		stdout: "hi",
		phase:  "run",
	},
	{
		name: "an entry in a module below the workspace",
		src: Source{Entry: "proj/cmd/b", Files: texts(
			"proj/go.mod", "module m\n",
			"proj/cmd/a/main.go", "package main\nfunc main() { println(1) }\n",
			"proj/cmd/b/main.go", "package main\nimport \"os\"\nfunc main() { os.Stdout.WriteString(\"b\") }\n",
		)},
		stdout: "b",
		phase:  "run",
	},
	{
		name:   "code that is no part of a package",
		src:    Source{Code: []byte("//go:build ignore\n\npackage main\nimport \"os\"\nfunc main() { os.Stdout.WriteString(\"gen\") }\n")},
		stdout: "gen",
		phase:  "run",
	},
	{
		name: "an entry that is no part of its package, in a module",
		src: Source{Entry: "cmd/gen.go", Files: texts(
			"go.mod", "module example.com/m\n",
			"greet/greet.go", "package greet\nfunc Hi() string { return \"hi\" }\n",
			"cmd/main.go", "package main\nfunc main() { println(1) }\n",
			"cmd/gen.go", "//go:build ignore\n\npackage main\nimport (\"fmt\"; \"example.com/m/greet\")\nfunc main() { fmt.Print(greet.Hi()) }\n",
		)},
		stdout: "hi",
		phase:  "run",
	},
	{
		name:   "compile error",
		src:    Source{Code: []byte("package main\n\nfunc main() {\n\tx := 1\n\tprintln(y)\n}\n")},
		phase:  "compile",
		reason: "main.go:4:2: declared and not used: x",
	},
	{
		name:   "not package main",
		src:    Source{Code: []byte("package lib\n\nfunc F() {}\n")},
		phase:  "compile",
		reason: "the package to run is not main: start the file with package main",
	},
	{
		name:   "newer than the toolchain",
		src:    Source{Files: texts("go.mod", "module m\ngo 1.99\n", "main.go", "package main\nfunc main() {}\n")},
		phase:  "compile",
		reason: "go: go.mod requires go >= 1.99 (running go GOVERSION; GOTOOLCHAIN=local)",
	},
	{
		name:   "a module that is not there",
		src:    Source{Code: []byte("package main\nimport \"github.com/a/b\"\nfunc main() { b.F() }\n")},
		phase:  "compile",
		reason: "main.go:2:8: no required module provides package github.com/a/b: go.mod file not found in current directory or any parent directory; see 'go help modules'",
	},
	{
		name:   "panic",
		src:    Source{Code: []byte("package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"before\"); var m map[string]int; m[\"a\"] = 1 }\n")},
		stdout: "before\n",
		phase:  "run",
		reason: "panic: assignment to entry in nil map",
	},
	{
		name:   "deadlock",
		src:    Source{Code: []byte("package main\nfunc main() { select {} }\n")},
		phase:  "run",
		reason: "fatal error: all goroutines are asleep - deadlock!",
	},
}

func TestGoDiagnose(t *testing.T) {
	checkDiagnoses(t, newGo(), []diagnoseCase{
		{"panic after output", "run", "panic attack\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/workspace/main.go:3 +0x9c\nexit status 2\n",
			Diagnosis{Reason: "panic: boom"}},
		{"panic again", "run", "panic: one [recovered]\n\tpanic: two\n\ngoroutine 1 [running]:\n",
			Diagnosis{Reason: "panic: one [recovered]"}},
		{"out of memory", "run", "fatal error: runtime: out of memory\n\nruntime stack:\n",
			Diagnosis{Reason: "fatal error: runtime: out of memory", OutOfMemory: true}},
		{"cannot allocate", "run", "fatal error: runtime: cannot allocate memory\n",
			Diagnosis{Reason: "fatal error: runtime: cannot allocate memory", OutOfMemory: true}},
		{"words about memory are no verdict", "run", "survived: fatal error: runtime: out of memory\n", Diagnosis{}},
		{"threads", "run", "runtime: failed to create new OS thread (have 9 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n",
			Diagnosis{Reason: "fatal error: newosproc", NoProcesses: true}},
		{"processes", "run", "panic: fork/exec /bin/true: resource temporarily unavailable\n",
			Diagnosis{Reason: "panic: fork/exec /bin/true: resource temporarily unavailable", NoProcesses: true}},
		{"disk", "run", "panic: write x: no space left on device\n",
			Diagnosis{Reason: "panic: write x: no space left on device", DiskFull: true}},
		{"compile", "compile", "# command-line-arguments\n./main.go:4:2: declared and not used: x\n",
			Diagnosis{Reason: "main.go:4:2: declared and not used: x"}},
		{"long", "run", "panic: " + strings.Repeat("é", 500) + "\n",
			Diagnosis{Reason: "panic: " + strings.Repeat("é", 292) + "…"}},
		{"nothing said", "run", "exit status 3\n", Diagnosis{}},
	})
}

func FuzzGoDiagnose(f *testing.F) {
	fuzzDiagnose(f, newGo(), "panic: é\n\ngoroutine 1\n", "# x\n./main.go:1:1: y\n")
}

func TestFindGoPackage(t *testing.T) {
	main, lib := "package main\nfunc main() {}\n", "package lib\n"
	ignored := "//go:build ignore\n\n" + main
	for _, c := range []struct {
		name    string
		src     Source
		want    string // directory and targets
		problem string
	}{
		{"code beside files", Source{Code: []byte(main), Files: texts("util.go", main, "sub/x.go", lib)}, ". ./main.go ./util.go", ""},
		{"the only main package", Source{Files: texts("go.mod", "", "lib.go", lib, "cmd/x/x.go", main)}, ". ./cmd/x", ""},
		{"vendored and test data are no programs", Source{Files: texts("go.mod", "", "vendor/a/a.go", main, "testdata/b.go", main, "_c/c.go", main, "d/d.go", main)}, ". ./d", ""},
		{"several", Source{Files: texts("a/a.go", main, "b/b.go", main)}, "", "choose one with --entry"},
		{"entry file", Source{Entry: "b/b.go", Files: texts("a/a.go", main, "b/b.go", main)}, "b ./b.go", ""},
		{"entry of another system by name", Source{Entry: "a_windows.go", Files: texts("a_windows.go", main)}, ". ./a_windows.go", ""},
		{"entry that is no part of its package", Source{Entry: "gen.go", Files: texts("main.go", main, "gen.go", ignored)}, ". ./gen.go", ""},
		{"and in a module", Source{Entry: "m/a/gen.go", Files: texts("m/go.mod", "", "m/a/main.go", main, "m/a/gen.go", ignored)}, "m ./a/gen.go", ""},
		{"and at its top", Source{Entry: "gen.go", Files: texts("go.mod", "", "main.go", main, "gen.go", ignored)}, ". ./gen.go", ""},
		{"its directory", Source{Entry: "a", Files: texts("a/main.go", main, "a/gen.go", ignored)}, "a ./main.go", ""},
		{"code that is no part of a package", Source{Code: []byte(ignored), Files: texts("util.go", main)}, ". ./main.go", ""},
		{"not asked for by name", Source{Files: texts("main.go", ignored)}, "", "build constraints"},
		{"a workspace", Source{Entry: "app", Files: texts("go.work", "", "app/go.mod", "", "app/main.go", main)}, "app ./", ""},
		{"no such entry", Source{Entry: "c", Files: texts("a/a.go", main)}, "", "the entry c"},
		{"only tests", Source{Files: texts("a_test.go", main)}, "", "there is no Go source"},
		{"cgo", Source{Code: []byte("package main\nimport \"C\"\n")}, "", "cgo is off"},
		{"other systems only", Source{Files: texts("a_windows.go", main)}, "", "build constraints"},
		{"newer release", Source{Code: []byte(main), Files: texts("new.go", "//go:build go1.900\n\n"+main, "old.go", "//go:build go1.21\n\n"+main)}, ". ./main.go ./old.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := findGoPackage(sourceFiles(c.src, "main.go"), c.src, "1.26.1")
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("error %v, want %q", err, c.problem)
				}
				return
			}
			if text := strings.Join(append([]string{got.dir}, got.targets...), " "); text != c.want || err != nil {
				t.Errorf("%q, %v, want %q", text, err, c.want)
			}
		})
	}
}

func FuzzFindGoPackage(f *testing.F) {
	f.Add("a//b.go", "//go:build x\npackage main\nimport \"C\"\n", "a")
	f.Add("main.go", "package main", "")
	f.Fuzz(func(t *testing.T, name, code, entry string) {
		src := Source{Files: texts(name, code), Entry: entry}
		_, _ = findGoPackage(src.Files, src, "1.26")
	})
}

func TestGoFind(t *testing.T) {
	home := t.TempDir()
	fakeProgram(t, filepath.Join(home, "wrapper/go"), "exit 1")
	fakeProgram(t, filepath.Join(home, "sdk/go1.30rc2/bin/go"), "exit 1")
	version := []byte("go1.30rc2\ntime 2027-01-01T00:00:00Z\n")
	if err := os.WriteFile(filepath.Join(home, "sdk/go1.30rc2/VERSION"), version, 0o644); err != nil {
		t.Fatal(err)
	}
	found, missing := newGo().Find(t.Context(), Host{Path: []string{filepath.Join(home, "wrapper")}, Home: home})
	if i := slices.IndexFunc(found, func(tc Toolchain) bool { return tc.Version == "1.30rc2" }); i < 0 || found[i].Origin != "~/sdk" {
		t.Errorf("found %+v", found)
	}
	if len(missing) != 1 || !strings.Contains(missing[0].Reason, "wrapper/go cannot be used") {
		t.Errorf("missing %+v", missing)
	}
}

func TestGoImports(t *testing.T) {
	many := strings.Repeat(`"a";`, 1<<18)
	for code, want := range map[string]bool{
		`package main; import "C"`:                                    true,
		"package main\n\n// #include <a.h>\nimport \"C\"\nfunc f(){}": true,
		`package main; import ("a"; b "b"; . "c"; _ "C"; "d")`:        true,
		`package main; import (` + many + `"C")`:                      true,
		"package main; import `C`":                                    true,
		`package "C"; import "a"`:                                     false,
		`package main; import ("a"; "c")`:                             false,
		`package main; import "a"; var s = "C"`:                       false,
		`package main; import "a"; func f() { g("C") }`:               false,
		"package main; /* import \"C\" */ // import \"C\"":            false,
		`package main; import (` + many:                               false,
		"\x00\"C\"":                                                   false,
		"":                                                            false,
	} {
		got := false
		for _, module := range GoImports([]byte(code)) {
			if got = module == "C"; got {
				break
			}
		}
		if got != want {
			t.Errorf("%.60q: %v", code, got)
		}
	}
}

// A distribution mends its Go without a new version: what was compiled by the other one is not
// linked any more.
func TestGoCacheOfMendedTools(t *testing.T) {
	dir := t.TempDir()
	tc := Toolchain{Program: filepath.Join(dir, "bin", "go"), Version: "1.26.0"}
	tools := []string{tc.Program, goTool(tc, "compile"), goTool(tc, "link")}
	at := time.Unix(1_700_000_000, 0)
	keys := map[string]bool{}
	for _, name := range tools {
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("x"), 0o755), os.Chtimes(name, at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	keys[goCache(tc).Key] = true
	for i, name := range tools {
		later := at.Add(time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(name, later, later); err != nil {
			t.Fatal(err)
		}
		keys[goCache(tc).Key] = true
	}
	if again := goCache(tc).Key; len(keys) != 1+len(tools) || !keys[again] {
		t.Errorf("%d keys for %d toolchains", len(keys), 1+len(tools))
	}
}
