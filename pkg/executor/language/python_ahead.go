package language

import (
	_ "embed" // for what waits
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

//go:embed python_ahead.py
var pythonAheadSource []byte

// aheadDir holds, in the workspace, what a program needs that is started ahead, until it
// waits.
const aheadDir = ".sandbox-run-ahead"

// pythonStandard are modules that are imported ahead for a program which names one of
// them: the ones that programs import most, of those that take long.
var pythonStandard = []string{
	"argparse", "base64", "bisect", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal",
	"enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "logging", "math", "operator", "random", "re",
	"statistics", "string", "struct", "textwrap", "threading", "time", "typing",
}

// importsStandard finds statements that may name them. What it finds wrongly is imported
// for nothing, and what it misses later than it could be.
var importsStandard = lazyregexp.New(`(?m)^[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)`)

// namedStandard are those of them that a source names.
func namedStandard(source []byte) []string {
	var named []string
	for _, m := range importsStandard().FindAllSubmatch(source, maxImports) {
		for name := range strings.FieldsFuncSeq(string(m[1])+","+string(m[2]), func(r rune) bool { return strings.ContainsRune(", \t.", r) }) {
			if slices.Contains(pythonStandard, name) && !slices.Contains(named, name) {
				named = append(named, name)
			}
		}
	}
	slices.Sort(named)
	return named
}

// maxImports bounds how many statements are looked at.
const maxImports = 100

// pythonAhead is an interpreter that waits where it would import the user's own
// settings (usercustomize): CPython has started as far as it does for any program then,
// and goes on by itself to run the file that its command line names. No frame of ours is
// left below it.
func pythonAhead(tc Toolchain, command []string, src Source, files map[string][]byte) []Ahead {
	const main = "main.py"
	plain := command[len(command)-1] == sandbox.WorkspaceDir+"/"+main || command[len(command)-1] == main
	if !plain || src.Dir != "" || hasDir(files, ".local") || // where the user's settings would be
		tc.sets("PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONSAFEPATH") {
		return nil
	}
	var ancestry *sandbox.Ancestry
	if library, packages := pythonCode(tc); library != "" {
		ancestry = &sandbox.Ancestry{Library: aheadDir + "/ancestor.so", Code: append(packages, library),
			Rehearsal: map[string][]byte{main: []byte("print('hello')\n")}}
	}
	ahead := func(modules []string) Ahead {
		return Ahead{
			Step: Step{Args: command, Env: []string{"PYTHONPATH=" + path.Join(sandbox.WorkspaceDir, aheadDir)}},
			Files: map[string][]byte{
				aheadDir + "/usercustomize.py": fmt.Appendf(nil, "STANDARD = %q.split()\n%s", strings.Join(modules, " "), pythonAheadSource),
				aheadDir + "/__pycache__":      nil, // a file, so that no compiled copy stays behind
			},
			Ancestor: ancestry,
			Args:     src.Args,
			Settings: settings("PYTHON", "OPENSSL_", "SSL_"),
		}
	}
	plainly := []Ahead{ahead(nil)}
	if modules := namedStandard(files[main]); len(modules) > 0 {
		return append([]Ahead{ahead(modules)}, plainly...)
	}
	return plainly
}
