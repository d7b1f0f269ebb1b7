package language

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJava(t *testing.T) {
	java := newJava()
	for _, tc := range toolchains(t, java) {
		for _, c := range javaPrograms {
			if javaMajor(tc.Version) < c.since {
				continue
			}
			t.Run(tc.Version+"/"+c.name, func(t *testing.T) {
				got := newBareWorld(t).run(java, tc, c.src, c.stdin)
				if got.phase != c.phase || got.stdout != c.stdout {
					t.Errorf("phase %s, stdout %q, stderr %q, want phase %s, stdout %q", got.phase, got.stdout, got.stderr, c.phase, c.stdout)
				}
				if reason := java.Diagnose(got.phase, got.stderr).Reason; !strings.HasPrefix(reason, c.reason) || (c.reason == "") != (reason == "") {
					t.Errorf("reason %q, want %q, of %q", reason, c.reason, got.stderr)
				}
			})
		}
	}
}

// TestJavacCache proves that a compiler takes its classes from the archive, and
// that it says nothing when there is none.
func TestJavacCache(t *testing.T) {
	for _, tc := range toolchains(t, newJava()) {
		t.Run(tc.Version, func(t *testing.T) {
			w := newBareWorld(t)
			w.cache = t.TempDir()
			cache := javacCache(tc)[0]
			src := Source{Code: []byte("class A { public static void main(String[] a) { } }")}
			plan, err := newJava().Plan(tc, src, testResources)
			if err != nil {
				t.Fatal(err)
			}
			w.write(cache.Files)
			w.write(plan.Files)
			if code, stdout, stderr := w.step(*plan.Compile, ""); code != 0 || stdout+stderr != "" {
				t.Errorf("without the archive: exit code %d, %s%s", code, stdout, stderr)
			}
			if code, stdout, stderr := w.step(cache.Prepare, ""); code != 0 {
				t.Fatalf("preparing: exit code %d, %s%s", code, stdout, stderr)
			}
			log := filepath.Join(w.dir, "classes.log")
			step := *plan.Compile
			step.Args = slices.Insert(slices.Clone(step.Args), 1, "-J-Xlog:class+load:file="+log)
			if code, stdout, stderr := w.step(step, ""); code != 0 || stdout+stderr != "" {
				t.Errorf("with the archive: exit code %d, %s%s", code, stdout, stderr)
			}
			loaded, err := os.ReadFile(log)
			if n := strings.Count(string(loaded), "shared objects file (top)"); err != nil || n < 500 {
				t.Errorf("%d classes come from the archive, %v", n, err)
			}
		})
	}
}

type javaCase struct {
	programCase
	since int // the first release that can run it
}

var javaPrograms = []javaCase{
	{programCase: programCase{
		name: "unicode everywhere, limits told, a public class of another name",
		src: Source{Code: []byte(`#!/usr/bin/env -S java --source 17
// class Wrong { public static void main(String[] args) {} }
package com.example;

import java.nio.file.*;

public class Hello {
    record Point(int x, int y) {}
    sealed interface Shape permits Circle {}
    record Circle(int r) implements Shape {}

    public static void main(String[] args) throws Exception {
        var größe = new Point(1, 2);
        System.out.println("héllo 你好 🦀 " + args[0] + " " + new java.util.Scanner(System.in).nextLine());
        Files.writeString(Path.of("你好.txt"), "🦀");
        System.out.println(Files.readString(Path.of("你好.txt")) + Files.exists(Path.of("/workspace/你好.txt")));
        System.out.println(Runtime.getRuntime().availableProcessors() + " " + größe);
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        System.out.println(heap > 300 && heap <= 384);
    }
}
`), Args: []string{"ärg 你好"}},
		stdin:  "in 🦀\n",
		stdout: "héllo 你好 🦀 ärg 你好 in 🦀\n🦀false\n1 Point[x=1, y=2]\ntrue\n",
		phase:  "run",
	}},
	{programCase: programCase{
		name: "packages, a resource, and the entry's class first",
		src: Source{Entry: "app/Start.java", Files: texts(
			"Main.java", "public class Main { public static void main(String[] a) { System.out.print(\"wrong\"); } }",
			"app/Start.java", "package app; class Helper { } class Go { public static void main(String[] a) throws Exception { System.out.print(lib.Greet.hi() + new String(Go.class.getResourceAsStream(\"/data.txt\").readAllBytes())); } }",
			"lib/Greet.java", "package lib; public class Greet { public static String hi() { return \"hi \"; } }",
			"data.txt", "resource",
		)},
		stdout: "hi resource",
		phase:  "run",
	}},
	{programCase: programCase{
		name: "a tree as Maven lays it out, with its resources",
		src: Source{Files: texts(
			"pom.xml", "<project/>",
			"core/src/main/java/App.java", "public class App { public static void main(String[] a) throws Exception { for (String s : new String[] {\"/a.txt\", \"/b.txt\", \"/c.txt\"}) System.out.print(new String(App.class.getResourceAsStream(s).readAllBytes())); } }",
			"core/src/main/resources/a.txt", "of Maven ",
			"util/src/main/resources/b.txt", "of another module ",
			"a.txt", "wrong ",
			"c.txt", "of the workspace",
		)},
		stdout: "of Maven of another module of the workspace",
		phase:  "run",
	}},
	{programCase: programCase{
		name:   "the first of several mains in source order, not by name",
		src:    Source{Code: []byte("class Zebra { public static void main(String[] a) { System.out.print(\"zebra\"); } }\nclass Ant { public static void main(String[] a) { System.out.print(\"ant\"); } }")},
		stdout: "zebra",
		phase:  "run",
	}},
	{programCase: programCase{
		name: "a module",
		src: Source{Files: texts(
			"module-info.java", "open module com.example.app { requires java.logging; }",
			"com/example/App.java", "package com.example; public class App { public static void main(String[] a) { System.out.print(App.class.getModule().getName()); } }",
		)},
		stdout: "com.example.app",
		phase:  "run",
	}},
	{programCase: programCase{
		name: "a preview feature on request",
		src: Source{Code: []byte("// --enable-preview\npublic class P { public static void main(String[] a) { Object o = 1;\n" +
			"switch (o) { case Integer i -> System.out.print(\"int\"); default -> {} } } }")},
		stdout: "int",
		phase:  "run",
	}},
	{since: 25, programCase: programCase{
		name:   "a compact source file",
		src:    Source{Code: []byte("void main() { IO.print(new B().x + record()); }\nclass B { int x = 3; }\nint record() { return 4; }\n")},
		stdout: "7",
		phase:  "run",
	}},
	{programCase: programCase{
		name:   "compile error",
		src:    Source{Code: []byte("public class A {\n  int f() { return \"s\"; }\n}\n")},
		phase:  "compile",
		reason: "A.java:2: error: incompatible types: String cannot be converted to int",
	}},
	{programCase: programCase{
		name:   "no main",
		src:    Source{Code: []byte("public class A { void main(int x) {} }\n")},
		phase:  "plan",
		reason: "",
	}},
	{programCase: programCase{
		name:   "exception with a cause",
		src:    Source{Code: []byte("public class A { public static void main(String[] a) { System.out.print(1); throw new RuntimeException(\"outer\", new IllegalStateException(\"inner 你好\")); } }\n")},
		stdout: "1",
		phase:  "run",
		reason: "Caused by: java.lang.IllegalStateException: inner 你好",
	}},
}

func TestJavaMissingMain(t *testing.T) {
	_, err := findMainClass(memoryTree{}, []string{"Main"}, false)
	if err == nil || !strings.Contains(err.Error(), "no class has a main method") {
		t.Errorf("error %v", err)
	}
}

func TestJavaPreviewHint(t *testing.T) {
	stderr := "A.java:1: error: patterns in switch statements are a preview feature and are disabled by default.\n  (use --enable-preview to enable patterns in switch statements)\n1 error\n"
	reason := newJava().Diagnose("compile", stderr).Reason
	if want := "disabled by default. Add the comment // --enable-preview"; !strings.HasSuffix(reason, want) {
		t.Errorf("reason %q, want it to end in %q", reason, want)
	}
}

func TestJavaDiagnose(t *testing.T) {
	checkDiagnoses(t, newJava(), []diagnoseCase{
		{"out of memory", "run", "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat A.main(A.java:1)\n",
			Diagnosis{Reason: `Exception in thread "main" java.lang.OutOfMemoryError: Java heap space`, OutOfMemory: true}},
		{"compiler out of memory", "compile", "\n\nThe system is out of resources.\nConsult the following stack trace for details.\njava.lang.OutOfMemoryError: Java heap space\n",
			Diagnosis{Reason: "java.lang.OutOfMemoryError: Java heap space", OutOfMemory: true}},
		{"no threads", "run", "Exception in thread \"main\" java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process/resource limits reached\n\tat X\n",
			Diagnosis{Reason: `Exception in thread "main" java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process/resource limits reached`, NoProcesses: true}},
		{"no thread to begin with", "run", "[0.022s][warning][os,thread] Failed to start thread \"VM Thread\" - pthread_create failed (EAGAIN) for attributes: detached.\nError occurred during initialization of VM\nCannot create VM thread. Out of system resources.\n",
			Diagnosis{Reason: "Cannot create VM thread. Out of system resources.", NoProcesses: true}},
		{"words about memory are no verdict", "run", "I survived java.lang.OutOfMemoryError\n", Diagnosis{}},
		{"own stack trace", "run", "java.io.IOException: bad\n\tat A.f(A.java:2)\n\tat A.main(A.java:1)\n",
			Diagnosis{Reason: "java.io.IOException: bad"}},
		{"disk full", "run", "Exception in thread \"main\" java.io.IOException: No space left on device\n\tat A\n",
			Diagnosis{Reason: `Exception in thread "main" java.io.IOException: No space left on device`, DiskFull: true}},
		{"caused by, after an earlier trace", "run", "Exception in thread \"T-1\" java.lang.Error: a\nCaused by: b.C: x\n\t... 1 more\nException in thread \"main\" java.lang.Error: last\n\tat A\n",
			Diagnosis{Reason: `Exception in thread "main" java.lang.Error: last`}},
		{"module error", "compile", "error: module not found: foo\n1 error\n", Diagnosis{Reason: "error: module not found: foo"}},
	})
}

func FuzzJavaDiagnose(f *testing.F) {
	fuzzDiagnose(f, newJava(), "Exception in thread \"main\" java.lang.Error: é\n\tat A\nCaused by: x\n", "A.java:1: error: x\n")
}

func TestHeapBytes(t *testing.T) {
	for _, c := range []struct{ limitMiB, heapMiB int64 }{{16, 8}, {64, 16}, {128, 48}, {256, 160}, {512, 384}, {4096, 3520}} {
		if got := heapBytes(c.limitMiB*mib) / mib; got != c.heapMiB {
			t.Errorf("of %d MiB the heap gets %d, want %d", c.limitMiB, got, c.heapMiB)
		}
	}
}

func TestJVMFlags(t *testing.T) {
	for _, c := range []struct {
		memory int64
		cpus   float64
		want   string
		has    bool
	}{
		{512 * mib, 0.5, "-XX:ActiveProcessorCount=1", true},
		{512 * mib, 1.5, "-XX:ActiveProcessorCount=2", true},
		{512 * mib, 8, "-XX:+UseSerialGC", true},
		{4096 * mib, 8, "-XX:+UseSerialGC", false},
		{512 * mib, 1, "-Xmx384m", true},
		{0, 1, "-Xmx0m", false},
	} {
		if got := jvmFlags(c.memory, c.cpus); slices.Contains(got, c.want) != c.has {
			t.Errorf("%d bytes, %v CPUs: %v, want %s: %v", c.memory, c.cpus, got, c.want, c.has)
		}
	}
}

// What a virtual machine says before the program begins is no output of the program.
func TestJVMWords(t *testing.T) {
	for _, tc := range toolchains(t, newJava()) {
		cmd := exec.Command(tc.Program, slices.Concat(jvmWords, []string{"-Xmx1k", "-version"})...)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if reason := newJava().Diagnose("run", stderr.String()).Reason; err == nil || stdout.Len() > 0 || reason != "Too small maximum heap" {
			t.Errorf("%s: %v, reason %q, stdout %q, stderr %q", tc.Version, err, reason, stdout.String(), stderr.String())
		}
	}
}

func TestJavaMajor(t *testing.T) {
	for version, want := range map[string]int{"17.0.15": 17, "1.8.0_392": 8, "26-ea": 26, "25": 25, "": 0} {
		if got := javaMajor(version); got != want {
			t.Errorf("%q is %d, want %d", version, got, want)
		}
	}
}

func TestScanJavaSource(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       javaSource
	}{
		{"comments and literals", "/* public class A {} */ // class B\nclass C { String s = \"} class D {\"; char c = '}'; char q = '\\''; } public class E {}",
			javaSource{types: []string{"C", "E"}, public: "E"}},
		{"text block", "class A { String s = \"\"\"\n  } class B { \\\"\"\" \" \"\" class C\n\"\"\"; }\nclass D {}",
			javaSource{types: []string{"A", "D"}}},
		{"unicode escapes", `package \u0061.b; public cl\u0061ss \uu0041 { String s = "\\u0022 } class X"; String t = "\u0022; } class B {}`,
			javaSource{pkg: "a.b", types: []string{"A", "B"}, public: "A"}},
		{"an escaped escape", "// \\\\u000a class No {}\nclass A {} // \\u000a class B {}",
			javaSource{types: []string{"A", "B"}}},
		{"annotations", "@A(value = {@B({1, 2}), @B(C.class)}) @Override public @D({}) final class E {} public @interface F { int x() default 1; }",
			javaSource{types: []string{"E", "F"}, public: "E"}},
		{"kinds", "interface A<T extends B> {} sealed interface S permits R {} record R<T>(int x) implements S {} enum E { X { void f() {} }; } public record Q(int y) {}",
			javaSource{types: []string{"A", "S", "R", "E", "Q"}, public: "Q"}},
		{"compact", "int record = 1; boolean c = A.class instanceof Object; public void f(int module) { class Local {} } class A {}\nvoid main() {}",
			javaSource{types: []string{"A"}}},
		{"module", "import java.util.*; @Deprecated open module a.b { requires c; }",
			javaSource{module: "a.b"}},
		{"preview", "// run with --enable-preview\nclass A { String s = \"x\"; }",
			javaSource{types: []string{"A"}, preview: true}},
		{"preview in a string is none", "class A { String s = \"--enable-preview\"; }",
			javaSource{types: []string{"A"}}},
		{"unterminated", "class A { String s = \"\n} class B { char c = '\n} /* class C {}",
			javaSource{types: []string{"A", "B"}}},
		{"beyond ASCII", "public class Größe𝒳 {}",
			javaSource{types: []string{"Größe𝒳"}, public: "Größe𝒳"}},
		{"surrogate escapes", `class \ud835\udcb3 {}`,
			javaSource{types: []string{"𝒳"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scanJavaSource([]byte(c.code))
			if got.pkg != c.want.pkg || got.module != c.want.module || got.public != c.want.public ||
				got.preview != c.want.preview || !slices.Equal(got.types, c.want.types) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestScanJavaSourceFindsAllTypes hides declarations between everything that
// could be taken for one.
func TestScanJavaSourceFindsAllTypes(t *testing.T) {
	noise := []string{
		"// class No {}\n", "/* record No(\n class No */", "@A(value = \"class No {\", c = No.class)\n", ";",
		"@B({'{', '\\'', \"}\"}) ", "\n\t ",
	}
	body := []string{
		"String s = \"} class No {\\\\\";", "char c = '}';", "class Inner { enum No {} }", "String t = \"\"\"\n} class No { \\\"\"\" \"\"\";",
		"void f() { record No(int x) {} }", "// }\n", "/* } */", "int record = 1;",
	}
	heads := []string{"class %s {", "final class %s<T extends Comparable<T>> extends Object {", "interface %s {", "enum %s { X;", "record %s(int a, @C(\")\") int b) {", "@interface %s {"}
	rapid.Check(t, func(t *rapid.T) {
		var code strings.Builder
		var want []string
		for i := range rapid.IntRange(0, 5).Draw(t, "types") {
			name := fmt.Sprintf("T%d", i)
			want = append(want, name)
			code.WriteString(strings.Join(rapid.SliceOf(rapid.SampledFrom(noise)).Draw(t, "noise"), ""))
			fmt.Fprintf(&code, rapid.SampledFrom(heads).Draw(t, "head"), name)
			code.WriteString(strings.Join(rapid.SliceOf(rapid.SampledFrom(body)).Draw(t, "body"), " "))
			code.WriteString("}")
		}
		if got := scanJavaSource([]byte(code.String())).types; !slices.Equal(got, want) {
			t.Errorf("types %q, want %q, in %s", got, want, code.String())
		}
	})
}

func FuzzScanJavaSource(f *testing.F) {
	f.Add([]byte(`package a; @X({1}) public class \u0041 { String s = """ } """; char c = '\''; } // x`))
	f.Add([]byte(`module a.b {} record R(`))
	f.Fuzz(func(t *testing.T, code []byte) {
		s := scanJavaSource(code)
		total := len(s.pkg) + len(s.module)
		for _, name := range s.types {
			total += len(name)
			if name == "" || strings.ContainsAny(name, "/\\\x00 .") {
				t.Errorf("a type is called %q", name)
			}
		}
		if total > len(code) {
			t.Errorf("%d bytes of names in %d bytes of source", total, len(code))
		}
	})
}

func TestReadJavaProject(t *testing.T) {
	p := readJavaProject(Source{Files: texts(
		"src/main/java/app/B.java", "package app; public class App {}",
		"src/main/java/Other.java", "class X {}",
		"src/test/java/app/BTest.java", "package app; public class BTest {}",
		"pom.xml", "<project/>",
	)})
	if want := []string{"src/main/java/Other.java", "src/main/java/app/App.java"}; !slices.Equal(p.names, want) {
		t.Errorf("compiled %q, want %q", p.names, want)
	}
	if p.files["src/main/java/app/B.java"] != nil || p.files["pom.xml"] == nil {
		t.Errorf("files: %q", namesWithSuffix(p.files, ""))
	}
}

// A virtual machine that starts before the workspace is filled sees no directories in it.
func TestJavaResources(t *testing.T) {
	tc := Toolchain{Program: "/usr/bin/java", Compiler: "/usr/bin/javac", Version: "17"}
	for name, want := range map[string]string{
		"src/main/resources/x":     "/build/classes:/workspace/src/main/resources:/workspace",
		"m/src/main/resources/a/b": "/build/classes:/workspace/m/src/main/resources:/workspace",
		"src/test/resources/x":     "/build/classes:/workspace",
	} {
		src := Source{Files: texts("src/main/java/Main.java", "class Main {}", name, "", name+"2", "")}
		project := readJavaProject(src)
		if args := javaArgs(tc, project, javaMain, testResources); args[len(args)-2] != want {
			t.Errorf("%s: %q, want %q", name, args, want)
		}
		_, program := javaAhead(tc, project, src, testResources)
		if early := !strings.Contains(want, "resources"); early != (program != nil) {
			t.Errorf("%s: a machine ahead: %v", name, program)
		}
	}
	if got := (&javaProject{files: texts("src/main/resources/x", ""), names: []string{"Main.java"}}).resources(); got != nil {
		t.Errorf("%q in a tree without src/main/java", got)
	}
}

// Of several modules that of the program's class comes first.
func TestJavaResourcesOfModules(t *testing.T) {
	const c, s = "common/src/main/resources", "server/src/main/resources"
	project := readJavaProject(Source{Files: texts("common/src/main/java/p/A.java", "package p; class A {}", "server/src/main/java/Main.java", "class Main {}", c+"/x", "", s+"/x", "")})
	for class, want := range map[string][]string{"Main": {s, c}, "p.A": {c, s}, "Nobody": {c, s}} {
		if got := project.resourcesOf(class); !slices.Equal(got, want) {
			t.Errorf("%s: %q", class, got)
		}
	}
}

func TestJavaFind(t *testing.T) {
	for _, c := range []struct {
		name, release string
		programs      map[string]string
		version       string
		problem       string
	}{
		{"release file", "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"21.0.2\"\n", map[string]string{"java": "exit 1", "javac": "exit 1"}, "21.0.2", ""},
		{"asked", "", map[string]string{"java": "exit 1", "javac": "echo javac 22-ea"}, "22-ea", ""},
		{"runtime only", "", map[string]string{"java": "exit 1"}, "", "compiling needs a JDK"},
		{"compiler only", "", map[string]string{"javac": "exit 1"}, "", "has no java beside it"},
		{"too old", "JAVA_VERSION=\"1.8.0_392\"\n", map[string]string{"java": "exit 1", "javac": "exit 1"}, "", "the oldest that works is 11"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "jdk")
			for name, script := range c.programs {
				fakeProgram(t, filepath.Join(home, "bin", name), script)
			}
			if c.release != "" {
				if err := os.WriteFile(filepath.Join(home, "release"), []byte(c.release), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			found, missing := newJava().Find(t.Context(), Host{Path: []string{filepath.Join(home, "bin")}, Home: home})
			var own []string // this host has JDKs of its own
			for _, tc := range found {
				if strings.HasPrefix(tc.Program, home) {
					own = append(own, tc.Version)
				}
			}
			if strings.Join(own, " ") != c.version {
				t.Errorf("found %q, want %q", own, c.version)
			}
			explained := slices.ContainsFunc(missing, func(m Missing) bool {
				return strings.HasPrefix(m.Reason, home) && strings.Contains(m.Reason, c.problem)
			})
			if explained != (c.problem != "") {
				t.Errorf("missing %+v, want %q", missing, c.problem)
			}
		})
	}
}

func TestLinkedMounts(t *testing.T) {
	for _, tc := range toolchains(t, newJava()) {
		if !strings.HasPrefix(tc.Program, "/usr/lib/jvm/java-17-openjdk") {
			continue
		}
		var got []string
		for _, m := range tc.Mounts {
			got = append(got, m.Source)
		}
		if want := []string{"/etc/java-17-openjdk", "/etc/ssl/certs/java/cacerts"}; !slices.Equal(got, want) {
			t.Errorf("mounts %q, want %q", got, want)
		}
	}
}

// What is copied for a name is no more than the name, in however many tokens it comes.
func TestJavaNamesOfManyTokens(t *testing.T) {
	for _, word := range []string{"package ", "open module "} {
		code := []byte(word + strings.Repeat("a.", 128<<10))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := scanJavaSource(code)
		runtime.ReadMemStats(&after)
		if name := s.pkg + s.module; len(name) != 256<<10 {
			t.Errorf("%s: a name of %d bytes", word, len(name))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MiB for %d KiB of source", word, n>>20, len(code)>>10)
		}
	}
}
