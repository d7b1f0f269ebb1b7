package language

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// javaLanguage compiles with javac, finds the main class among what came out,
// and runs it with java.
type javaLanguage struct{}

func newJava() Language { return javaLanguage{} }

func (javaLanguage) Info() Info {
	return Info{
		Name:       "java",
		Title:      "Java",
		Aliases:    []string{"jdk"},
		Extensions: []string{".java"},
		Shebangs:   []string{"java"},
		Entries:    []string{"Main.java", "main.java"},
		Install:    "apt-get install -y default-jdk-headless",
		Elsewhere:  "unpack a JDK from https://adoptium.net/ and put its bin directory on PATH",

		LeastMemoryBytes: 20 << 20,
	}
}

// javaDirs are where JDKs are, beside PATH.
func javaDirs() map[string][]string {
	return map[string][]string{
		"/usr/lib/jvm": {"/usr/lib/jvm/*/bin/javac"},
		"/opt":         {"/opt/java/*/bin/javac", "/opt/jdk*/bin/javac"},
		"SDKMAN":       {"~/.sdkman/candidates/java/*/bin/javac"},
		"jenv":         {"~/.jenv/versions/*/bin/javac"},
		"jabba":        {"~/.jabba/jdk/*/bin/javac"},
		"~/.jdks":      {"~/.jdks/*/bin/javac"}, // IntelliJ IDEA
		"asdf":         {"~/.asdf/installs/java/*/bin/javac"},
		"mise":         {"~/.local/share/mise/installs/java/*/bin/javac"},
	}
}

// oldestJDK is the oldest that still gets updates; before 9, javac does not make
// its output directory.
const oldestJDK = "11"

var javacVersion = lazyregexp.New(`javac (\S+)`)

// Find looks for javac, since a runtime alone is of no use. A configuration may
// also name a JDK's java.
func (javaLanguage) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	found, missing := host.find(ctx, search{
		Language: "java",
		Title:    "JDK",
		Names:    []string{"javac"},
		Globs:    javaDirs(),
		Args:     []string{"-version"},
		Pattern:  javacVersion(),
		Version:  host.jdkVersion,
		Oldest:   oldestJDK,
		Complete: completeJDK,
		Inside: func(_ context.Context, _ Host, tc *Toolchain) error {
			tc.Program, tc.Compiler = "java", tc.Program
			return nil
		},
	})
	if host.Image == nil && (len(found) == 0 || host.Want == nil) {
		missing = append(javaRuntimes(host), missing...)
	}
	return found, missing
}

// javaRuntimes says why those without a compiler do not count.
func javaRuntimes(host Host) (missing []Missing) {
	for c := range host.candidates("java", []string{"java"}, nil) {
		if _, ok := firstProgram(filepath.Join(installation(c.Program), "bin/javac")); !ok {
			missing = append(missing, Missing{Language: "java", Reason: noJavac(c.Program)})
		}
	}
	return missing
}

func noJavac(program string) string {
	return program + " has no javac beside it: it is a runtime, and compiling needs a JDK"
}

// jdkPrograms are those of the JDK that one of its programs belongs to.
func jdkPrograms(program string) (java, javac string, err error) {
	bin := filepath.Join(installation(program), "bin")
	java, hasJava := firstProgram(filepath.Join(bin, "java"))
	javac, hasJavac := firstProgram(filepath.Join(bin, "javac"))
	switch {
	case !hasJava:
		err = fmt.Errorf("%s has no java beside it", program)
	case !hasJavac:
		err = errors.New(noJavac(program))
	}
	return java, javac, err
}

// jdkVersion reads the file release, which has lines of the form KEY="value".
// A JDK that has none is asked, which costs a quarter of a second.
func (h Host) jdkVersion(ctx context.Context, program string) (string, error) {
	_, javac, err := jdkPrograms(program)
	if err != nil {
		return "", err
	}
	release, err := os.ReadFile(filepath.Join(installation(program), "release"))
	if version := manifestValue(release, "", "JAVA_VERSION"); err == nil && version != "" {
		return version, nil
	}
	return h.version(ctx, javac, javacVersion(), "-version")
}

// completeJDK makes the two programs and what the JDK links to of one of them.
func completeJDK(tc *Toolchain) error {
	home := installation(tc.Program)
	java, javac, err := jdkPrograms(tc.Program)
	if err != nil {
		return err
	}
	tc.Program, tc.Compiler = java, javac
	tc.Mounts = append(tc.Mounts, linkedMounts(home)...)
	return nil
}

// javaNoPlugins is a directory that is not there, in any root.
const javaNoPlugins = "/nonexistent"

// javaClasses is where the compiler puts classes.
const javaClasses = sandbox.BuildDir + "/classes"

// Plan compiles all sources at once; the main class is found afterwards.
func (javaLanguage) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	project := readJavaProject(src)
	if len(project.names) == 0 {
		return Plan{}, errors.New("there is no Java source: give at least one .java file")
	}
	if src.Entry != "" && src.Code == nil && !slices.Contains(namesWithSuffix(src.Files, ".java"), path.Clean(src.Entry)) {
		return Plan{}, fmt.Errorf("the entry %s is not one of the Java files", src.Entry)
	}
	compiler, program := javaAhead(tc, project, src, res)
	return Plan{
		CompileAhead: compiler, Ahead: program,
		Files:     project.files,
		Mounts:    tc.Mounts,
		Caches:    javacCache(tc),
		Compile:   &Step{Args: javacArgs(tc, project, res)},
		Leftovers: []string{"*.class"},
		Run: func(tree sandbox.FileTree) (Step, error) {
			flexible := javaMajor(tc.Version) >= 25 || project.preview() && javaMajor(tc.Version) >= 21
			class, err := findMainClass(tree, project.classOrder(), flexible)
			if err != nil {
				return Step{}, err
			}
			return Step{Args: append(javaArgs(tc, project, class, res), src.Args...)}, nil
		},
	}, nil
}

// javacArgs is the command that compiles. Its own JVM keeps to the limits of
// the phase; with the first compiler tier and the simplest collector a small
// source compiles in half the time, because nothing runs for long enough to be
// worth more. No annotation processor is run, and plug-ins of the compiler, which it looks
// for all the same (com.sun.source.util.Plugin), are looked for where there are none: both
// would be programs, in the compiler.
func javacArgs(tc Toolchain, project javaProject, res Resources) []string {
	args := slices.Concat([]string{tc.Compiler}, javacTuning(), javacArchiveFlags(tc), flagsOf("-J", jvmFlags(res.CompileMemoryBytes, res.CompileCPUs)))
	if project.preview() {
		args = append(args, previewFlag, "-source", strconv.Itoa(javaMajor(tc.Version)))
	}
	args = append(args, "-encoding", "UTF-8", "-d", javaClasses, "-cp", sandbox.WorkspaceDir)
	if !fault.Off("compiler", "plug-ins") {
		args = append(args, "-proc:none", "-processorpath", javaNoPlugins)
	}
	for _, name := range project.names {
		if strings.HasPrefix(name, "-") || strings.HasPrefix(name, "@") {
			name = "./" + name // neither an option nor a file of options
		}
		args = append(args, name)
	}
	return args
}

// javaArgs is the command that runs a class. The workspace is on the class path
// so that resources beside the sources are found, and before it what Maven would
// have copied to the classes.
func javaArgs(tc Toolchain, project javaProject, class string, res Resources) []string {
	args := slices.Concat([]string{tc.Program}, jvmFlags(res.MemoryBytes, res.CPUs), jvmWords)
	if project.preview() {
		args = append(args, previewFlag)
	}
	if module := project.module(); module != "" {
		return append(args, "-p", javaClasses, "-m", module+"/"+class)
	}
	classPath := []string{javaClasses}
	for _, dir := range project.resourcesOf(class) {
		classPath = append(classPath, sandbox.WorkspaceDir+"/"+dir)
	}
	return append(args, "-cp", strings.Join(append(classPath, sandbox.WorkspaceDir), ":"), class)
}

// javaMajor is 17 for 17.0.15, and 8 for 1.8.0_392.
func javaMajor(version string) int {
	first, rest, _ := strings.Cut(version, ".")
	if first == "1" {
		first, _, _ = strings.Cut(rest, ".")
	}
	end := 0
	for end < len(first) && isDigit(first[end]) {
		end++
	}
	major, _ := strconv.Atoi(first[:end])
	return major
}
