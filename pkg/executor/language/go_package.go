package language

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"iter"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// goPackage is what the go command is told to build.
type goPackage struct {
	dir     string   // where, relative to the workspace
	targets []string // file names, or a directory of a module
	module  bool
}

// findGoPackage finds the main package. With a go.mod or go.work at or above it,
// it is built as a package of that module, else by the names of its files.
func findGoPackage(files map[string][]byte, src Source, version string) (goPackage, error) {
	goFiles := slices.DeleteFunc(namesWithSuffix(files, ".go"), isIgnoredGo)
	if len(goFiles) == 0 {
		return goPackage{}, errors.New("there is no Go source: give at least one .go file that is not a _test.go file")
	}
	dir, err := goEntryDir(files, goFiles, src)
	if err != nil {
		return goPackage{}, err
	}
	members, alone := goMembers(files, goFiles, dir, goEntryFile(src), version)
	if len(members) == 0 {
		return goPackage{}, fmt.Errorf("no Go file in %s is meant for linux/%s: build constraints exclude them all", dir, runtime.GOARCH)
	}
	for _, name := range members {
		for _, module := range GoImports(files[name]) {
			if module == "C" {
				return goPackage{}, fmt.Errorf(`%s imports "C", and cgo is off in the sandbox: use a pure Go package instead`, name)
			}
		}
	}
	if root, ok := nearestDir(files, dir, "go.work", "go.mod"); ok {
		target := dir
		if alone {
			target = members[0]
		}
		below := strings.TrimPrefix(strings.TrimPrefix(target, root), "/")
		return goPackage{root, []string{"./" + below}, true}, nil
	}
	var targets []string
	for _, name := range members {
		targets = append(targets, "./"+path.Base(name))
	}
	return goPackage{dir, targets, false}, nil
}

// isIgnoredGo tells whether a file is never part of a program: tests, and what
// the go command passes over when it walks a module.
func isIgnoredGo(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return true
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == "vendor" || element == "testdata" || strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
			return true
		}
	}
	return false
}

// goEntryDir is the directory of the main package: that of the entry or of the
// code without a name, else of main.go, else the only one that holds package
// main.
func goEntryDir(files map[string][]byte, goFiles []string, src Source) (string, error) {
	switch entry := path.Clean(src.Entry); {
	case src.Entry != "" && slices.Contains(goFiles, entry):
		return path.Dir(entry), nil
	case src.Entry != "" && slices.ContainsFunc(goFiles, func(name string) bool { return path.Dir(name) == entry }):
		return entry, nil
	case src.Entry != "":
		return "", fmt.Errorf("the entry %s is neither a Go file nor a directory that holds one", src.Entry)
	case src.Code != nil || slices.Contains(goFiles, "main.go"):
		return ".", nil
	}
	var mains []string
	for _, name := range goFiles {
		if dir := path.Dir(name); !slices.Contains(mains, dir) && isMainPackage(files[name]) {
			mains = append(mains, dir)
		}
	}
	switch {
	case slices.Contains(mains, "."):
		return ".", nil
	case len(mains) > 1:
		return "", fmt.Errorf("there are %d main packages (%s): choose one with --entry", len(mains), strings.Join(mains, ", "))
	case len(mains) == 1:
		return mains[0], nil
	}
	return path.Dir(goFiles[0]), nil // the compiler says what is wrong with it
}

// goEntryFile is what was asked for by name; code without one has that of main.go.
func goEntryFile(src Source) string {
	if src.Entry == "" && src.Code != nil {
		return "main.go"
	}
	return path.Clean(src.Entry)
}

// goMembers are the files of a directory that belong to a program for this
// machine. The go command ignores build constraints of files that are named to
// it, so they are evaluated here. An entry that they exclude is no part of the
// package beside it: it is a program alone, as go run has it.
func goMembers(files map[string][]byte, goFiles []string, dir, entry, version string) (members []string, alone bool) {
	context := goContext(files, version)
	for _, name := range goFiles {
		if path.Dir(name) != dir {
			continue
		}
		match, err := context.MatchFile(dir, path.Base(name))
		switch {
		case match || err != nil:
			members = append(members, name)
		case name == entry:
			return []string{name}, true
		}
	}
	return members, false
}

// goContext evaluates build constraints as the toolchain of a version would.
func goContext(files map[string][]byte, version string) build.Context {
	context := build.Context{
		GOOS:     "linux",
		GOARCH:   runtime.GOARCH,
		Compiler: "gc",
		JoinPath: path.Join,
		OpenFile: func(name string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(files[name])), nil
		},
	}
	for minor := 1; minor <= goMinor(version); minor++ {
		context.ReleaseTags = append(context.ReleaseTags, fmt.Sprintf("go1.%d", minor))
	}
	return context
}

// goMinor is 26 for 1.26.8 and 1.26rc1, and 0 for what is no such version.
func goMinor(version string) int {
	rest, _ := strings.CutPrefix(version, "1.")
	end := 0
	for end < len(rest) && isDigit(rest[end]) {
		end++
	}
	minor, _ := strconv.Atoi(rest[:end])
	return min(minor, 999)
}

// isMainPackage tells whether a file's package clause says main.
func isMainPackage(code []byte) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", code, parser.PackageClauseOnly)
	return err == nil && file.Name.Name == "main"
}

// GoImports are the imports of a Go file, each with its line. It looks at the tokens up to the first
// declaration: a syntax tree of as many imports as a body has room for is thirty times their size.
// Of what is no Go those before the error count.
func GoImports(code []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var tokens scanner.Scanner
		files := token.NewFileSet()
		tokens.Init(files.AddFile("", files.Base(), len(code)), code, nil, 0)
		for importing := false; ; {
			pos, kind, text := tokens.Scan()
			switch kind {
			case token.IMPORT:
				importing = true
			case token.STRING:
				module, err := strconv.Unquote(text)
				// Position without what a //line comment says.
				if err == nil && importing && !yield(files.PositionFor(pos, false).Line, module) {
					return
				}
			case token.PACKAGE, token.IDENT, token.PERIOD, token.LPAREN, token.RPAREN, token.SEMICOLON:
			default:
				return
			}
		}
	}
}
