package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/nearest"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What a run may bring along. Sources are held in memory and written to the
// workspace, so that the bounds are far above any program by hand and far
// below what would hurt.
const (
	maxSourceBytes = 16 << 20 // the source, when it is one file
	maxInputBytes  = 64 << 20 // all files of a project and of --in together
	maxInputFiles  = 10_000
)

// source is the program that was asked for, by exactly one way.
type source struct {
	language  string
	code      []byte
	files     map[string]executor.InputFile
	fromStdin bool
}

// readSource finds the one source of a run and reads it.
func (a *app) readSource(f *runFlags) (*source, error) {
	paths := append(append([]string{}, f.File...), f.Paths...)
	if len(f.File) > 0 && len(f.Paths) > 0 {
		return nil, fmt.Errorf("two sources: --file %s and %s (arguments for the program go after --)", f.File[0], f.Paths[0])
	}
	switch {
	case isExec(f.Lang):
		return execSource(f, paths)
	case len(f.Code) > 1:
		return nil, errors.New("two sources: --code is given twice")
	case len(f.Code) == 1 && len(paths) > 0:
		return nil, fmt.Errorf("two sources: --code and %s (arguments for the program go after --)", paths[0])
	case len(f.Code) == 1:
		return codeSource(f, []byte(f.Code[0]), "")
	case len(paths) == 1 && paths[0] == "-" || len(paths) == 0:
		return a.stdinSource(f)
	case len(paths) == 1 && !isDir(paths[0]):
		return fileSource(f, paths[0])
	}
	return projectSource(f, paths)
}

// execSource is no source: the arguments name a program in the root.
func execSource(f *runFlags, paths []string) (*source, error) {
	switch {
	case len(f.Code) > 0 || len(paths) > 0:
		return nil, errors.New("--lang exec takes no source: name the program and its arguments after --")
	case len(f.Args) == 0:
		return nil, errors.New("--lang exec needs a program: name it and its arguments after --")
	}
	return &source{language: f.Lang}, nil
}

// codeSource is one source without other files; name is that of its file, if
// it has one.
func codeSource(f *runFlags, code []byte, name string) (*source, error) {
	if f.Entry != "" {
		return nil, fmt.Errorf("--entry %s needs a project: give a directory or several files", f.Entry)
	}
	lang, err := chooseLanguage(f.Lang, name, code)
	return &source{language: lang, code: code}, err
}

func (a *app) stdinSource(f *runFlags) (*source, error) {
	if isTerminal(a.stdin) {
		return nil, usageError{errors.New("no source: give --code, a file, or standard input, as in: sandbox-run --lang python --code 'print(6*7)' (more: sandbox-run --help)")}
	}
	if f.Stdin == "-" || f.Interactive {
		return nil, errors.New("standard input holds the source, so the program cannot read it too: give the source with --code or --file")
	}
	code, err := readAtMost(a.stdin, maxSourceBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot read the source from standard input: %w", err)
	}
	if len(code) == 0 {
		return nil, errors.New("no source: standard input is empty; give --code or a file")
	}
	s, err := codeSource(f, code, "")
	if err == nil {
		s.fromStdin = true
	}
	return s, err
}

func fileSource(f *runFlags, name string) (*source, error) {
	code, err := readFile(name, maxSourceBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot read the source: %w", hintVerb(err, name))
	}
	s, err := codeSource(f, code, name)
	if err != nil {
		return nil, err
	}
	if main, ok := otherMain(s.language, name); ok {
		s.code, s.files = nil, map[string]executor.InputFile{main: {Content: code}}
		f.Entry = main
	}
	return s, nil
}

// otherMain is the name of a file as the main source, where its extension is
// not the usual one: .tsx may hold JSX, and .mjs is a module.
func otherMain(asked, file string) (name string, ok bool) {
	lang, _, err := language.Lookup(asked)
	if err != nil {
		return "", false
	}
	info, extension := lang.Info(), strings.ToLower(path.Ext(file))
	name = "main" + extension
	return name, slices.Index(info.Extensions, extension) > 0 && slices.Contains(info.Entries, name)
}

// hintVerb explains a missing file that is called like a verb, or nearly so.
func hintVerb(err error, name string) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var verbs []string
	for _, v := range shownVerbs() {
		verbs = append(verbs, v.name)
	}
	if slices.Contains(verbs, name) {
		return fmt.Errorf("%w (the verb %s stands first: sandbox-run %[2]s)", err, name)
	}
	if near := nearest.Words(name, verbs); len(near) > 0 {
		return fmt.Errorf("%w (did you mean the verb %s?)", err, near[0])
	}
	return err
}

// projectSource is a directory, whose content is the workspace's, or several
// files, which keep their places relative to each other.
func projectSource(f *runFlags, paths []string) (*source, error) {
	t := newTree()
	root := commonParent(paths)
	for _, p := range paths {
		dest := "."
		if !isDir(p) || len(paths) > 1 {
			rel, err := filepath.Rel(root, absolute(p))
			if err != nil {
				return nil, err
			}
			dest = filepath.ToSlash(rel)
		}
		if err := t.add(p, dest); err != nil {
			return nil, fmt.Errorf("cannot read the source: %w", hintVerb(err, p))
		}
	}
	if len(t.files) == 0 {
		return nil, fmt.Errorf("%s holds no files", paths[0])
	}
	f.Entry = path.Clean(filepath.ToSlash(f.Entry))
	if f.Entry == "." {
		f.Entry = ""
	}
	lang, err := projectLanguage(f.Lang, f.Entry, t.files)
	return &source{language: lang, files: t.files}, err
}

// commonParent is the deepest directory that holds all paths.
func commonParent(paths []string) string {
	parent := filepath.Dir(absolute(paths[0]))
	for _, p := range paths[1:] {
		for dir := filepath.Dir(absolute(p)); parent != dir && !strings.HasPrefix(dir, withSlash(parent)); {
			parent = filepath.Dir(parent)
		}
	}
	return parent
}

func withSlash(dir string) string {
	return strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
}

func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return filepath.Clean(p)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// readFile reads a file that the user named. It may be a pipe, as the shell's
// <(…) makes them.
func readFile(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > most {
		return nil, tooLarge(name, most)
	}
	data, err := readAtMost(file, most)
	if errors.Is(err, errTooLarge) {
		err = tooLarge(name, most)
	}
	return data, err
}

var errTooLarge = errors.New("it is larger than 16 MiB, which is the most that a source may be")

func tooLarge(name string, most int64) error {
	return fmt.Errorf("%s is larger than %s, which is the most that is taken", name, sandbox.FormatBytes(most))
}

func readAtMost(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, err
}
