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
// that tell them where the library is, in the format of -importcfg: one without what is
// internal to it, which no program may import, and one with all of it and with what a
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
"$go" list -export -f '{{with .Export}}packagefile {{$.ImportPath}}={{.}}{{end}}' std | sed "s|=$GOCACHE/|=` + goCacheDir + `/|" >"$GOCACHE/` + goLinked + `"
grep -v -E ' vendor/|[ /]internal[/=]' "$GOCACHE/` + goLinked + `" >"$GOCACHE/` + goImports + `"
echo 'package main; func main() {}' >"$GOCACHE/main.go"
"$go" build -x "$@" -o "$GOCACHE/main" "$GOCACHE/main.go" 2>&1 | grep '^modinfo ' >>"$GOCACHE/` + goLinked + `"
rm "$GOCACHE/main" "$GOCACHE/main.go"
`

// goDirect compiles and links without the go command, with the flags that it would use, but
// for those that name its own temporary files. If either fails, for whatever reason, the go
// command builds: it says why in its own words, or it can do more.
func goDirect(tc Toolchain, pkg goPackage, files map[string][]byte, threads int, build []string) []string {
	compiler, linker := goTool(tc, "compile"), goTool(tc, "link")
	if tc.inImage() || pkg.module || !isProgram(compiler) || !isProgram(linker) || needsGoCommand(pkg, files) {
		return build
	}
	const object = sandbox.BuildDir + "/main.a"
	compile := slices.Concat([]string{
		compiler, "-o", object, "-p", "main", fmt.Sprintf("-lang=go1.%d", goMinor(tc.Version)), "-complete", "-goversion", "go" + tc.Version,
		fmt.Sprintf("-c=%d", threads), "-nolocalimports", "-importcfg", goCacheDir + "/" + goImports, "-pack",
	}, pkg.targets)
	link := []string{linker, "-o", goBinary, "-importcfg", goCacheDir + "/" + goLinked, "-buildmode=exe", "-w", object}
	script := fmt.Sprintf("{ %s && %s; } >/dev/null 2>&1 || exec %s", arguments(1, compile), arguments(1+len(compile), link), arguments(1+len(compile)+len(link), build))
	return slices.Concat([]string{"/bin/sh", "-c", script, "sh"}, compile, link, build)
}

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
