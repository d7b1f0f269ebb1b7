package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// execLanguage needs no source: the arguments name a program of the root.
const execLanguage = "exec"

// isExec tells whether --lang asks for a program instead of a language.
func isExec(lang string) bool { return strings.EqualFold(lang, execLanguage) }

// chooseLanguage is the language of one source: the one asked for, else by the
// file's extension, else by the #! line.
func chooseLanguage(asked, file string, code []byte) (string, error) {
	if asked != "" {
		return asked, knownLanguage(asked)
	}
	line, _, _ := bytes.Cut(code, []byte("\n"))
	if lang, ok := language.ByFile(file, line); ok {
		return lang.Info().Name, nil
	}
	if file == "" {
		return "", errors.New("which language is the source? Say --lang, for instance --lang python")
	}
	return "", fmt.Errorf("neither the extension of %s nor a #! line tells its language: say --lang, for instance --lang python", file)
}

// knownLanguage refuses a name that no language has. The error has the nearest
// ones.
func knownLanguage(asked string) error {
	if _, _, err := language.Lookup(asked); err != nil {
		return languageError{err}
	}
	return nil
}

// projectLanguage is the language of several files: the one asked for, that of
// the entry, that of the only conventional entry, or the only one there is. An
// entry that is a directory, such as a package, counts as the project. One that
// is neither may be a name that the only language there is knows better.
func projectLanguage(asked, entry string, files map[string]executor.InputFile) (string, error) {
	if asked != "" {
		return asked, knownLanguage(asked)
	}
	if main, ok := files[entry]; ok {
		return chooseLanguage("", entry, main.Content)
	}
	if entry != "" {
		switch inside := filesBelow(entry, files); {
		case len(inside) > 0:
			files = inside
		case len(languagesByName(files)) != 1:
			return "", fmt.Errorf("--entry %s is not among the files: %s", entry, someNames(files))
		}
	}
	byName := languagesByName(files)
	for _, found := range [][]string{languagesByEntry(files), byName} {
		if len(found) == 1 {
			return found[0], nil
		}
	}
	if len(byName) == 0 {
		return "", fmt.Errorf("no file of a known language is among %s: say --lang", someNames(files))
	}
	return "", fmt.Errorf("the files are in several languages (%s): say --lang or --entry", strings.Join(byName, ", "))
}

// filesBelow are the files of a directory, named from there.
func filesBelow(dir string, files map[string]executor.InputFile) map[string]executor.InputFile {
	below := map[string]executor.InputFile{}
	for name, file := range files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			below[rest] = file
		}
	}
	return below
}

// languagesByEntry are those whose conventional entry is among the files.
func languagesByEntry(files map[string]executor.InputFile) []string {
	var found []string
	for _, lang := range language.All() {
		info := lang.Info()
		if slices.ContainsFunc(info.Entries, func(name string) bool { _, ok := files[name]; return ok }) {
			found = append(found, info.Name)
		}
	}
	return found
}

// languagesByName are those of the files' extensions, in alphabetical order.
func languagesByName(files map[string]executor.InputFile) []string {
	extensions, found := map[string]bool{}, map[string]bool{}
	for name := range files {
		extensions[path.Ext(name)] = true
	}
	for extension := range extensions {
		if lang, ok := language.ByFile("main"+extension, nil); ok {
			found[lang.Info().Name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func someNames(files map[string]executor.InputFile) string {
	names := slices.Sorted(maps.Keys(files))
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
