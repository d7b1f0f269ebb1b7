package language

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// The go command spends most of its time on finding out what a build needs. A program of
// the standard library alone needs the compiler, the linker, and two files of the cache
// that tell them where in the cache the library is, in the format of -importcfg: one without
// what is internal to it, which no program may import, and one with all of it and with what a
// binary says of its build.
const (
	goImports = "std.imports"
	goLinked  = "std.linked"
)

// goPrepareDirect writes these files; the go command and [goBuildFlags] are its arguments.
// What a binary says of its build (runtime/debug, BuildInfo) is the same for every such
// program; the go command shows it to the linker.
const goPrepareDirect = `
go=$1
shift
"$go" list -export -f '{{with .Export}}packagefile {{$.ImportPath}}={{.}}{{end}}' std | sed "s|=$GOCACHE/|=|" >"$GOCACHE/` + goLinked + `"
grep -v -E ' vendor/|[ /]internal[/=]' "$GOCACHE/` + goLinked + `" >"$GOCACHE/` + goImports + `"
echo 'package main; func main() {}' >"$GOCACHE/main.go"
"$go" build -x "$@" -o "$GOCACHE/main" "$GOCACHE/main.go" 2>&1 | grep '^modinfo ' >>"$GOCACHE/` + goLinked + `"
rm "$GOCACHE/main" "$GOCACHE/main.go"
`

// goDirect compiles and links without the go command, with the flags that it would use, but
// for those that name its own temporary files; it tells whether it can. Both work in the cache,
// which can be anywhere. If either fails, for whatever reason, the go command builds: it says
// why in its own words, or it can do more.
func goDirect(tc Toolchain, pkg goPackage, files map[string][]byte, threads int, build []string) ([]string, bool) {
	compiler, linker := goTool(tc, "compile"), goTool(tc, "link")
	if tc.inImage() || pkg.module || !isProgram(compiler) || !isProgram(linker) || needsGoCommand(pkg, files) {
		return build, false
	}
	const object = sandbox.BuildDir + "/main.a"
	compile := []string{
		compiler, "-o", object, "-p", "main", fmt.Sprintf("-lang=go1.%d", goMinor(tc.Version)), "-complete", "-goversion", "go" + tc.Version,
		fmt.Sprintf("-c=%d", threads), "-nolocalimports", "-importcfg", goImports, "-pack",
	}
	link := []string{linker, "-o", goBinary, "-importcfg", goLinked, "-buildmode=exe", "-w", object}
	for _, name := range pkg.targets {
		compile = append(compile, path.Join(sandbox.WorkspaceDir, pkg.dir, name))
	}
	args := []string{"/bin/sh", "-c", "", "sh", goCacheDir, goOwnCache}
	var lines []any
	for _, line := range [][]string{compile, link, build} {
		lines = append(lines, arguments(len(args)-3, line))
		args = append(args, line...)
	}
	args[2] = fmt.Sprintf(goDirectly, lines...)
	return args, true
}

// goDirectly has the cache, the go command's own where that is read-only, and the command lines
// of the compiler, the linker and the go command. In a cache of its own that command has the
// directories of the other: it does without new files there, but for those of its index.
const goDirectly = `dir=$PWD
{ cd "$1" && %s && %s; } >/dev/null 2>&1 && exit
cd "$dir"
true 2>/dev/null >"$1/writable" || {
	mkdir "$2" && ln -s "$1"/?? "$2" && date +%%s >"$2/trim.txt"
	export GOCACHE="$2" GODEBUG=goindex=0
}
exec %s`

// goOwnCache is where the go command has what is its own of the cache.
const goOwnCache = sandbox.BuildDir + "/go-build"

// goTool is one of the programs that the go command calls.
func goTool(tc Toolchain, name string) string {
	return filepath.Join(installation(tc.Program), "pkg", "tool", "linux_"+runtime.GOARCH, name)
}

// arguments are as many of a shell's own, from the first one on. The words themselves are
// no part of the script: a runtime may have to say another path.
func arguments(first int, words []string) string {
	refs := make([]string, len(words))
	for i := range words {
		refs[i] = fmt.Sprintf(`"${%d}"`, first+i)
	}
	return strings.Join(refs, " ")
}

// needsGoCommand tells whether a program asks for more: settings of the runtime, or a
// profile to be optimised by.
func needsGoCommand(pkg goPackage, files map[string][]byte) bool {
	if _, profile := files[path.Join(pkg.dir, "default.pgo")]; profile {
		return true
	}
	return slices.ContainsFunc(pkg.targets, func(name string) bool {
		return bytes.Contains(files[path.Join(pkg.dir, name)], []byte("//go:debug"))
	})
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
