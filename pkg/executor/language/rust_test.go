package language

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRust(t *testing.T) {
	rust := newRust()
	tc := toolchains(t, rust)[0]
	for _, c := range rustPrograms {
		t.Run(c.name, func(t *testing.T) {
			if c.needs != "" && compareVersions(tc.Version, c.needs) < 0 {
				t.Skipf("rustc %s is here, and the program needs %s", tc.Version, c.needs)
			}
			w := newBareWorld(t)
			got := w.run(rust, tc, c.src, c.stdin)
			if got.phase != c.phase || got.stdout != c.stdout {
				t.Errorf("phase %s, stdout %q, stderr %q, want phase %s, stdout %q", got.phase, got.stdout, got.stderr, c.phase, c.stdout)
			}
			if reason := rust.Diagnose(got.phase, got.stderr).Reason; reason != c.reason {
				t.Errorf("reason %q, want %q, of %q", reason, c.reason, got.stderr)
			}
			for _, name := range w.workspace() {
				if !strings.HasSuffix(name, ".rs") && c.src.Files[name] == nil && filepath.Base(name) != "Cargo.lock" {
					t.Errorf("%s was left in the workspace", name)
				}
			}
		})
	}
}

func manifest(name, more string) string {
	return "[package] # " + name + "\nname = \"" + name + "\"\nversion = \"0.1.0\"\n" + more
}

// rustBuildScript tells the program how it is built.
const rustBuildScript = "fn main() { println!(\"cargo:rustc-env=BUILT=opt-level {}\", std::env::var(\"OPT_LEVEL\").unwrap()); }\n"

const rustPrint = "fn main() { print!(\"%\"); }\n"

const twoDays = "[[bin]]\nname = \"day01\"\npath = \"day01.rs\"\n[[bin]] # 2\nname = \"day02\"\npath = \"./day02.rs\"\n"

var rustPrograms = []programCase{
	{
		name: "unicode everywhere",
		src: Source{Code: []byte("use std::io::Read;\nfn main() { let mut größe = String::new(); std::io::stdin().read_to_string(&mut größe).unwrap();\n" +
			"println!(\"héllo 你好 🦀 {:?} {}\", std::env::args().skip(1).collect::<Vec<_>>(), größe); }\n"), Args: []string{"ärg 🦀", "-v"}},
		stdin:  "in 你好",
		stdout: "héllo 你好 🦀 [\"ärg 🦀\", \"-v\"] in 你好\n",
		phase:  "run",
	},
	{
		name: "modules without cargo",
		src: Source{Files: texts(
			"src/main.rs", "mod util; mod deep;\nfn main() { print!(\"{}{}\", util::a(), deep::er::b()); }\n",
			"src/util.rs", "pub fn a() -> i32 { 1 }\n",
			"src/deep/mod.rs", "pub mod er;\n",
			"src/deep/er.rs", "pub fn b() -> i32 { 2 }\n",
		)},
		stdout: "12",
		phase:  "run",
	},
	{
		name: "a cargo project of edition 2024 with a library and a build script", needs: "1.88", // let chains
		src: Source{Files: texts(
			"Cargo.toml", manifest("my-app", "edition = \"2024\"\n"),
			"build.rs", rustBuildScript,
			"src/lib.rs", "pub fn f() -> &'static str { env!(\"BUILT\") }\n",
			"src/main.rs", "fn main() { let gen_ = Some(1); if let Some(x) = gen_ && x == 1 { print!(\"{} {}\", my_app::f(), cfg!(debug_assertions)); } }\n",
		)},
		stdout: "opt-level 2 true",
		phase:  "run",
	},
	{
		name: "one of several programs",
		src: Source{Entry: "src/bin/two.rs", Files: texts(
			"Cargo.toml", manifest("p", "edition = \"2021\"\n"),
			"src/main.rs", strings.ReplaceAll(rustPrint, "%", "main"),
			"src/bin/two.rs", strings.ReplaceAll(rustPrint, "%", "two"),
		)},
		stdout: "two",
		phase:  "run",
	},
	{
		name: "a member of a workspace with its own profile",
		src: Source{Entry: "app/src/main.rs", Files: texts(
			"Cargo.toml", "[workspace]\nmembers = [\"app\", \"lib\"]\nresolver = \"2\"\n[profile.dev]\nopt-level = 0\n",
			"app/Cargo.toml", manifest("app", "edition = \"2021\"\n[dependencies]\nlib = { path = \"../lib\" }\n"),
			"app/src/main.rs", "fn main() { print!(\"{} {}\", lib::f(), env!(\"BUILT\")); }\n",
			"app/build.rs", rustBuildScript,
			"lib/Cargo.toml", manifest("lib", "edition = \"2021\"\n"),
			"lib/src/lib.rs", "pub fn f() -> i32 { 7 }\n",
		)},
		stdout: "7 opt-level 0",
		phase:  "run",
	},
	{
		name: "the entry of a program that the manifest names",
		src: Source{Entry: "day02.rs", Files: texts(
			"Cargo.toml", manifest("days", "edition = \"2021\"\n"+twoDays),
			"day01.rs", strings.ReplaceAll(rustPrint, "%", "one"),
			"day02.rs", strings.ReplaceAll(rustPrint, "%", "two"),
		)},
		stdout: "two",
		phase:  "run",
	},
	{
		name: "an entry that is no program's",
		src: Source{Entry: "examples/x.rs", Files: texts(
			"Cargo.toml", manifest("p", "edition = \"2021\"\n"),
			"src/main.rs", rustPrint,
			"examples/x.rs", rustPrint,
		)},
		phase: "plan",
	},
	{
		name:   "a crate with a name of its own",
		src:    Source{Code: []byte("#![crate_name = \"shape\"]\nfn main() { print!(\"{}\", module_path!()); }\n")},
		stdout: "shape",
		phase:  "run",
	},
	{
		name:   "compile error",
		src:    Source{Code: []byte("fn main() {\n    let x: i32 = \"a\";\n}\n")},
		phase:  "compile",
		reason: "error[E0308]: mismatched types",
	},
	{
		name:   "overflow is caught although the code is optimised",
		src:    Source{Code: []byte("fn main() { let a = std::env::args().count() as i32; println!(\"{}\", a + i32::MAX); }\n")},
		phase:  "run",
		reason: "main.rs:1:69: attempt to add with overflow",
	},
	{
		name:   "a crate that is not there",
		src:    Source{Files: texts("Cargo.toml", manifest("p", "[dependencies]\nrand = \"0.8\"\n"), "src/main.rs", "fn main() {}\n")},
		phase:  "compile",
		reason: "error: no matching package named `rand` found",
	},
	{
		name:   "several programs and no choice",
		src:    Source{Files: texts("Cargo.toml", manifest("p", ""), "src/bin/a.rs", "fn main() {}\n", "src/bin/b.rs", "fn main() {}\n")},
		phase:  "plan",
		reason: "",
	},
}

func TestRustEntry(t *testing.T) {
	for _, c := range []struct {
		name        string
		src         Source
		entry, dir  string
		wantProblem string
	}{
		{name: "code", src: Source{Code: []byte("x"), Files: texts("Cargo.toml", "")}, entry: "main.rs"},
		{name: "only source", src: Source{Files: texts("prog.rs", "", "data.txt", "")}, entry: "prog.rs"},
		{name: "named", src: Source{Entry: "./b.rs", Files: texts("a.rs", "", "b.rs", "")}, entry: "b.rs"},
		{name: "unclear", src: Source{Files: texts("a.rs", "", "b.rs", "")}, wantProblem: "choose the main file"},
		{name: "no such entry", src: Source{Entry: "c.rs", Files: texts("a.rs", "")}, wantProblem: "the entry c.rs"},
		{name: "entry outside the workspace", src: Source{Entry: "/c.rs", Files: texts("a.rs", "")}, wantProblem: "the entry /c.rs"},
		{name: "directory of a project", src: Source{Entry: "app", Files: texts("app/Cargo.toml", "", "app/src/main.rs", "")}, dir: "app"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entry, project, err := rustEntry(sourceFiles(c.src, "main.rs"), c.src)
			if c.wantProblem != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantProblem) {
					t.Errorf("error %v, want %q", err, c.wantProblem)
				}
				return
			}
			if err != nil || entry != c.entry || (project != nil) != (c.dir != "") || project != nil && project.dir != c.dir {
				t.Errorf("%q, %+v, %v", entry, project, err)
			}
		})
	}
}

func TestRustWithoutLinkerOrCargo(t *testing.T) {
	dir := t.TempDir()
	fakeProgram(t, filepath.Join(dir, "bin/rustc"), "echo 'rustc 1.70.0 (abc 2023-05-31)'")
	found, _ := newRust().Find(t.Context(), Host{Path: []string{filepath.Join(dir, "bin")}, Home: dir})
	if len(found) == 0 {
		t.Skip("there is no cc on this host")
	}
	if found[0].Version != "1.70.0" || found[0].Compiler != "" {
		t.Errorf("found %+v", found[0])
	}
	_, err := newRust().Plan(found[0], Source{Files: texts("Cargo.toml", "", "src/main.rs", "")}, testResources)
	if err == nil || !strings.Contains(err.Error(), "apt-get install -y cargo") {
		t.Errorf("error %v", err)
	}
}

func TestRustDiagnose(t *testing.T) {
	checkDiagnoses(t, newRust(), []diagnoseCase{
		{"old panic", "run", "thread 'main' panicked at 'boom', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`\n",
			Diagnosis{Reason: "src/main.rs:2:5: boom"}},
		{"new panic", "run", "\nthread 'main' (12) panicked at src/main.rs:2:5:\nboom\nmore\nnote: x\n",
			Diagnosis{Reason: "src/main.rs:2:5: boom"}},
		{"joined", "run", "thread 'w' panicked at a.rs:1:1:\nreal\nthread 'main' panicked at a.rs:2:2:\ncalled `Result::unwrap()` on an `Err` value: Any { .. }\n",
			Diagnosis{Reason: "a.rs:1:1: real"}},
		{"error from main", "run", "Error: ParseIntError { kind: InvalidDigit }\n",
			Diagnosis{Reason: "Error: ParseIntError { kind: InvalidDigit }"}},
		{"before 1.73", "run", "thread 'main' panicked at 'attempt to add with overflow', main.rs:1:69\nnote: run with `RUST_BACKTRACE=1`\n",
			Diagnosis{Reason: "main.rs:1:69: attempt to add with overflow"}},
		{"stack", "run", "\nthread 'main' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n",
			Diagnosis{Reason: "thread 'main' has overflowed its stack"}},
		{"memory", "run", "memory allocation of 99 bytes failed\n",
			Diagnosis{Reason: "memory allocation of 99 bytes failed", OutOfMemory: true}},
		{"threads", "run", "thread 'main' panicked at std/thread.rs:1:1:\nfailed to spawn thread: Os { code: 11, kind: WouldBlock, message: \"Resource temporarily unavailable\" }\n",
			Diagnosis{Reason: `std/thread.rs:1:1: failed to spawn thread: Os { code: 11, kind: WouldBlock, message: "Resource temporarily unavailable" }`, NoProcesses: true}},
		{"processes of a build script", "compile", "error: failed to run custom build command for `x`\n  thread 'main' (26) panicked at build.rs:5:116:\n  called `Result::unwrap()` on an `Err` value: Os { code: 11, kind: WouldBlock, message: \"Resource temporarily unavailable\" }\n",
			Diagnosis{Reason: "error: failed to run custom build command for `x`", NoProcesses: true}},
		{"linker full", "compile", "error: linking with `cc` failed: exit status: 1\n  = note: ld: final link failed: No space left on device\n",
			Diagnosis{Reason: "error: linking with `cc` failed: exit status: 1", DiskFull: true}},
		{"nothing said", "run", "hello\n", Diagnosis{}},
	})
}

func FuzzRustDiagnose(f *testing.F) {
	fuzzDiagnose(f, newRust(), "thread 'main' panicked at a.rs:1:1:\né\n", "error[E0308]: x\n")
}

func TestManifestValue(t *testing.T) {
	text := "name = \"no\"\n[package] # x\nname = 'p' # c\nversion.workspace = true\ndescription = \"\"\"\n[[bin]]\nname = \"no\"\n\"\"\"\n[[bin]]\nname = \"b\"\n[dependencies]\nname = \"d\"\n"
	for _, c := range [][3]string{{"package", "name", "p"}, {"bin", "name", "b"}, {"package", "default-run", ""}, {"package", "version.workspace", ""}} {
		if got := manifestValue([]byte(text), c[0], c[1]); got != c[2] {
			t.Errorf("%s.%s is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestCargoEntry(t *testing.T) {
	main := "[[bin]]\nname = \"tool\"\npath = \"src/main.rs\"\n"
	for _, c := range []struct {
		name, entry, manifest string
		built                 string // by cargo
		selection, want       string // want is the program, or words of the problem
	}{
		{"by its path", "day02.rs", twoDays, "day01 day02", "--bin day02", "target/debug/day02"},
		{"by its path before the layout", "src/bin/a.rs", "[[bin]]\nname = \"b\"\npath = \"src/bin/a.rs\"\n", "b", "--bin b", "target/debug/b"},
		{"by the layout", "src/bin/a.rs", twoDays, "a", "--bin a", "target/debug/a"},
		{"a directory", "src/bin/c", "", "c", "--bin c", "target/debug/c"},
		{"main.rs of a directory", "src/bin/c/main.rs", "", "c", "--bin c", "target/debug/c"},
		{"a module of a program", "src/bin/c/x.rs", "", "a c p", "", "the entry src/bin/c/x.rs is the main file of none of the project's programs (a, c, p)"},
		{"a module of the only program", "src/x.rs", "", "p", "", "none of the project's programs (p)"},
		{"an example", "examples/x.rs", twoDays, "day01 day02", "", "none of the project's programs (day01, day02)"},
		{"no such file", "src/bin/no.rs", "", "a p", "", "none of the project's programs (a, p)"},
		{"main.rs", "src/main.rs", "default-run = \"a\"\n", "a p", "", "target/debug/p"},
		{"src", "src", "default-run = \"a\"\n", "a p", "", "target/debug/p"},
		{"main.rs by another name", "src/main.rs", main, "a tool", "--bin tool", "target/debug/tool"},
		{"the manifest", "Cargo.toml", "default-run = \"a\"\n", "a p", "", "target/debug/a"},
		{"several named ones", "", twoDays, "day01 day02", "", "choose one"},
		{"several named ones and main.rs", "", twoDays, "day01 day02 p", "", "target/debug/p"},
		{"main.rs by another name unasked", "", main, "a tool", "", "target/debug/tool"},
		{"what no command line could have", "day01.rs", "[[bin]]\nname = \"a\x00b\"\npath = \"day01.rs\"\n", "a", "", "none of the project's programs (a)"},
		{"no program", "examples/x.rs", "", "", "", "the project has no program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := texts("Cargo.toml", manifest("p", c.manifest), "day01.rs", "", "day02.rs", "", "src/main.rs", "", "src/x.rs", "",
				"src/bin/a.rs", "", "src/bin/c/main.rs", "", "src/bin/c/x.rs", "", "examples/x.rs", "")
			_, project, err := rustEntry(files, Source{Files: files, Entry: c.entry})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(project.selection(), " "); got != c.selection {
				t.Errorf("selection %q, want %q", got, c.selection)
			}
			tree := memoryTree{mode: 0o755, files: map[string][]byte{}}
			for _, name := range strings.Fields(c.built) {
				tree.files["target/debug/"+name] = nil
			}
			got, err := project.binary(tree)
			if err != nil && errors.As(err, new(NothingToRun)) {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// What may run programs while it is built is built each time.
func TestCargoScripts(t *testing.T) {
	for want, projects := range map[bool][]map[string][]byte{
		false: {
			texts("Cargo.toml", manifest("p", ""), "src/main.rs", "fn main() {}"),
			texts("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n", "a/Cargo.toml", manifest("a", ""), "a/src/main.rs", "fn main() {}"),
		},
		true: {
			texts("Cargo.toml", manifest("p", ""), "src/main.rs", "", "build.rs", ""),
			texts("Cargo.toml", manifest("p", "build = \"make.rs\"\n"), "src/main.rs", "", "make.rs", ""),
			texts("Cargo.toml", manifest("p", "\"b\\u0075ild\" = \"make.rs\"\n"), "src/main.rs", "", "make.rs", ""),
			texts("Cargo.toml", manifest("p", ""), "src/main.rs", "", "m/Cargo.toml", manifest("m", "[lib]\nproc-macro = true\n"), "m/src/lib.rs", ""),
			texts("Cargo.toml", manifest("p", ""), "src/main.rs", "", ".cargo/config.toml", "[build]\nrustc-wrapper = \"./w\"\n"),
			texts("Cargo.toml", manifest("p", ""), "src/main.rs", "", ".cargo/config", ""),
		},
	} {
		for _, files := range projects {
			plan, err := newRust().Plan(Toolchain{Program: "/bin/rustc", Compiler: "/bin/cargo", Version: "1.80.0"}, Source{Files: files, Entry: "Cargo.toml"}, Resources{})
			if err != nil || plan.Scripted != want {
				t.Errorf("%q: scripted is %t, %v, want %t", slices.Sorted(maps.Keys(files)), plan.Scripted, err, want)
			}
		}
	}
}

func TestCargoPrograms(t *testing.T) {
	tree := memoryTree{mode: 0o755, files: texts(
		"target/debug/app", "", "target/debug/libx.so", "", "target/debug/deps/app-123", "",
		"target/x86_64-unknown-linux-musl/debug/cross", "", "cargo/debug/no", "", "target/release/no", "",
	)}
	got, err := cargoPrograms(tree)
	if want := "target/debug/app target/x86_64-unknown-linux-musl/debug/cross"; strings.Join(got, " ") != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// What a source says decides how it is linked, and whether rustc may wait for it.
func TestRustSources(t *testing.T) {
	tc := Toolchain{Program: "/nowhere/bin/rustc"}
	for _, c := range []struct {
		source        string
		static, waits bool
	}{
		{`fn main() { println!("mode"); } // module`, false, true},
		{``, false, true},
		{`#[global_allocator] static A: X = X; fn main() {}`, true, true},
		{`#![no_std]`, true, true},
		{`#[link(name = "m")] unsafe extern "C" {}`, true, true},
		{"extern  crate alloc;", true, true},
		{"mod util; fn main() {}", false, false},
		{"mod r#type ; fn main() {}", false, false},
		{"macro_rules! m { ($n:ident) => { mod $n; } }", false, false},
		{`#[path = "x.rs"] mod x;`, false, false},
		{`const T: &str = include_str!("t.txt");`, false, false},
		{"fn main() {} // \xff", false, false},
		{"//" + strings.Repeat("x", 64<<10), false, false},
	} {
		files := map[string][]byte{"main.rs": []byte(c.source)}
		if got := wantsStaticLibrary(files); got != c.static {
			t.Errorf("%.60q: static %v", c.source, got)
		}
		if got := rustAhead(tc, files, "main.rs"); (got != nil) != c.waits || c.waits && string(got[0].Input) != c.source {
			t.Errorf("%.60q: %v", c.source, got)
		}
	}
	for source, want := range map[string]string{
		"#![crate_name = \"shape\"]":                       "shape",
		"#![allow(x)] #! [ crate_name=\"größe_2\" ]\n":     "größe_2",
		"\n// #![crate_name = \"a\"]\nfn main() {}":        "main",
		"fn main() { f(\"#![crate_name = \\\"a\\\"]\"); }": "main",
		"#![crate_name = \"-o x\"]":                        "main",
	} {
		args := rustcArgs(tc, map[string][]byte{"a.rs": []byte(source), "b.rs": []byte("#![crate_name = \"b\"]")}, "a.rs")
		if got := args[slices.Index(args, "--crate-name")+1]; got != want {
			t.Errorf("%q: a crate called %q, want %q", source, got, want)
		}
	}
	if got := rustAhead(tc, map[string][]byte{"src/main.rs": nil}, "src/main.rs"); got != nil {
		t.Errorf("its directory is not where rustc would look: %v", got)
	}
}
