package language

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/nearest"
)

// coded are the languages with code of their own. They come before those of
// languages.yaml, which is not even read while one of these is meant.
var coded = sync.OnceValue(func() []Language {
	return []Language{newGo(), newPython(), newJavaScript(), newTypeScript(), newRust(), newJava(), newExec()}
})

// All lists every language: those with code of their own, then those of
// languages.yaml.
func All() []Language {
	return slices.Concat(coded(), table())
}

// Lookup finds a language by name or alias, in any case, with an optional
// version after @: python, py, python@3.12. The error of an unknown name lists
// the nearest ones.
func Lookup(nameWithVersion string) (Language, string, error) {
	name, version, versioned := strings.Cut(strings.ToLower(strings.TrimSpace(nameWithVersion)), "@")
	if versioned && version == "" {
		return nil, "", fmt.Errorf("%q has no version after the @; write it as in python@3.12", shorten(nameWithVersion))
	}
	lang, ok := first(func(i Info) bool { return i.Name == name || slices.Contains(i.Aliases, name) })
	if !ok {
		return nil, "", unknownLanguage(name)
	}
	return lang, version, nil
}

// first is the first language that is meant, looking at the table last.
func first(meant func(Info) bool) (Language, bool) {
	return firstOf(meant, coded, table)
}

// firstOf is the first language that is meant in the first list that has one.
func firstOf(meant func(Info) bool, lists ...func() []Language) (Language, bool) {
	for _, list := range lists {
		for _, lang := range list() {
			if meant(lang.Info()) {
				return lang, true
			}
		}
	}
	return nil, false
}

// unknownLanguage names the languages that a name may be a slip of, and all.
func unknownLanguage(name string) error {
	var names, known []string
	for _, lang := range All() {
		known = append(known, lang.Info().Name)
		names = append(append(names, lang.Info().Name), lang.Info().Aliases...)
	}
	all := "there are " + strings.Join(known, ", ")
	switch near := nearest.Words(name, names); {
	case name == "":
		return fmt.Errorf("the language is missing; %s", all)
	case len(near) == 0:
		return fmt.Errorf("there is no language %q; %s", shorten(name), all)
	default:
		return fmt.Errorf("there is no language %q; did you mean %s? %s", shorten(name), strings.Join(near, " or "), all)
	}
}

// ByFile finds the language of a file by the extension of its name, else by
// the #! of its first line.
func ByFile(name string, firstLine []byte) (Language, bool) {
	if extension := strings.ToLower(path.Ext(name)); extension != "" {
		lang, ok := first(func(i Info) bool { return slices.Contains(i.Extensions, extension) })
		if ok {
			return lang, true
		}
	}
	program := shebangProgram(firstLine)
	if program == "" {
		return nil, false
	}
	unversioned := strings.TrimRight(program, "0123456789.") // python3.12
	return first(func(i Info) bool {
		return slices.Contains(i.Shebangs, program) || slices.Contains(i.Shebangs, unversioned)
	})
}

// shebangProgram is the name of the program in a line such as
// #!/usr/bin/python3 or #!/usr/bin/env -S A=b python3 -u; else empty.
func shebangProgram(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	for _, field := range strings.Fields(string(rest)) {
		program := path.Base(field)
		if program != "env" && !strings.HasPrefix(field, "-") && !strings.Contains(field, "=") {
			return program
		}
	}
	return ""
}
