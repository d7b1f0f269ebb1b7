package language

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// javaAheadSources are what a virtual machine runs to wait for its work: as a compiler, or
// before a program as its agent (java.lang.instrument).
//
//go:embed java_ahead
var javaAheadSources embed.FS

// Where the cache of a JDK has them, compiled, and the source that the compiler is made
// quick with.
const (
	javaAheadJar  = "ahead.jar"
	javacPractice = "WarmUp.java"
)

// javaAheadFiles are the sources by name.
func javaAheadFiles() map[string][]byte {
	const dir = "java_ahead"
	files := map[string][]byte{}
	entries, _ := javaAheadSources.ReadDir(dir) // it is there
	for _, e := range entries {
		files[e.Name()], _ = javaAheadSources.ReadFile(path.Join(dir, e.Name()))
	}
	return files
}

// javaMain is the class that programs have most, and whose virtual machine can be started
// before it is there.
const javaMain = "Main"

// javaAhead are the compiler and the virtual machine of a program that is one class path and
// takes nothing of the request: the machine has its arguments and its environment from the
// start.
func javaAhead(tc Toolchain, project javaProject, src Source, res Resources) (compiler, program []Ahead) {
	if tc.inImage() || javaMajor(tc.Version) < oldestArchive || project.preview() || bringsClasses(src) {
		return nil, nil
	}
	jar := javacCacheDir + "/" + javaAheadJar
	tuning := slices.Concat(javacTuning(), javacArchiveFlags(tc), flagsOf("-J", jvmFlags(res.CompileMemoryBytes, res.CompileCPUs)))
	compile := []string{tc.Program}
	for _, flag := range tuning {
		compile = append(compile, strings.TrimPrefix(flag, "-J"))
	}
	compiler = []Ahead{{
		Step: Step{Args: append(compile, "-cp", jar, "sandbox_run.Compiler", javacCacheDir+"/"+javacPractice, javaClasses, sandbox.WorkspaceDir, sandbox.TempDir)},
		Args: javacArgs(tc, project, res)[1+len(tuning):],
		Dirs: []string{path.Base(javaClasses)}, Again: true,
	}}
	if project.module() != "" || len(src.Args) > 0 || src.Dir != "" {
		return compiler, nil
	}
	if len(project.resources()) > 0 { // to a machine that starts before they are there they are no directories
		return compiler, nil
	}
	command := javaArgs(tc, project, javaMain, res)
	return compiler, []Ahead{{
		Step:     Step{Args: slices.Insert(slices.Clone(command), 1, "-javaagent:"+jar)},
		Command:  command,
		Dirs:     []string{path.Base(javaClasses)},
		Settings: []string{""}, // all of them
	}}
}

// bringsClasses tells whether there is anything beside the sources that a virtual machine
// could take for a part of the compiler, which goes on to other sources.
func bringsClasses(src Source) bool {
	for name := range src.Files {
		if strings.Contains(name, "META-INF") || strings.HasSuffix(name, ".class") || strings.HasSuffix(name, ".jar") {
			return true
		}
	}
	return false
}

func flagsOf(before string, flags []string) []string {
	out := make([]string, len(flags))
	for i, f := range flags {
		out[i] = before + f
	}
	return out
}
