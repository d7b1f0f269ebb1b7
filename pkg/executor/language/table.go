package language

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

//go:embed languages.yaml
var languagesYAML []byte

// table is the languages of languages.yaml. They are read when one is asked
// for, and once: it takes longer than a run should wait for a language that is
// not among them. The file is our own and tested, so an error in it is a bug.
var table = sync.OnceValue(func() []Language {
	languages, err := parseTable(languagesYAML)
	if err != nil {
		panic("languages.yaml: " + err.Error())
	}
	return languages
})

// tableEntry is a language of the table, as languages.yaml describes it.
type tableEntry struct {
	Name       string
	Title      string
	Aliases    []string
	Extensions []string
	Shebangs   []string
	Entries    []string
	Install    string
	Elsewhere  string

	Programs []string
	Globs    map[string][]string
	Version  struct {
		Args    []string
		Pattern string
		Oldest  string
	}

	Compile  []string
	Run      []string
	Files    []string
	Hide     []string
	Diagnose struct {
		Compile []string
		Run     []string
		Syntax  []string
		Memory  []string
	}
}

// tableLanguage implements [Language] for an entry.
type tableLanguage struct{ entry tableEntry }

// parseTable reads languages.yaml and refuses what cannot work.
func parseTable(data []byte) ([]Language, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var entries []tableEntry
	if err := decoder.Decode(&entries); err != nil {
		return nil, err
	}
	var languages []Language
	names := make(map[string]bool)
	for i, e := range entries {
		if err := e.validate(); err != nil {
			return nil, fmt.Errorf("entry %d (%s): %w", i+1, e.Name, err)
		}
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if names[name] {
				return nil, fmt.Errorf("entry %d (%s): the name %s is taken", i+1, e.Name, name)
			}
			names[name] = true
		}
		languages = append(languages, tableLanguage{e})
	}
	return languages, nil
}

// validate names the first thing that is missing or wrong.
func (e tableEntry) validate() error {
	required := []struct {
		field string
		given bool
	}{
		{"name", e.Name != ""},
		{"title", e.Title != ""},
		{"extensions", len(e.Extensions) > 0},
		{"entries", len(e.Entries) > 0},
		{"install", e.Install != ""},
		{"elsewhere", e.Elsewhere != ""},
		{"programs", len(e.Programs) > 0},
		{"version.pattern", e.Version.Pattern != ""},
		{"run", len(e.Run) > 0},
	}
	for _, r := range required {
		if !r.given {
			return fmt.Errorf("%s is missing", r.field)
		}
	}
	for _, extension := range e.Extensions {
		if !strings.HasPrefix(extension, ".") {
			return fmt.Errorf("the extension %s does not start with a dot", extension)
		}
	}
	for _, pattern := range slices.Concat([]string{e.Version.Pattern}, e.Diagnose.Compile, e.Diagnose.Run, e.Diagnose.Syntax, e.Diagnose.Memory) {
		if _, err := regexp.Compile("(?m)" + pattern); err != nil {
			return err
		}
	}
	if len(e.Compile) == 0 && slices.ContainsFunc(e.Run, func(arg string) bool { return strings.Contains(arg, "{build}") }) {
		return fmt.Errorf("run uses {build}, but there is no compile")
	}
	return checkPlaceholders(append(slices.Clone(e.Compile), e.Run...))
}

// checkPlaceholders refuses placeholders that are unknown or stand where a list
// cannot.
func checkPlaceholders(command []string) error {
	for _, arg := range command {
		for _, placeholder := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(arg, -1) {
			switch placeholder {
			case "{program}", "{main}", "{build}":
			case "{sources}", "{args}":
				if arg != placeholder {
					return fmt.Errorf("%s must stand alone, not in %q", placeholder, arg)
				}
			default:
				return fmt.Errorf("unknown placeholder %s in %q", placeholder, arg)
			}
		}
	}
	return nil
}

func (l tableLanguage) Info() Info {
	e := l.entry
	return Info{
		Name:       e.Name,
		Title:      e.Title,
		Aliases:    e.Aliases,
		Extensions: e.Extensions,
		Shebangs:   e.Shebangs,
		Entries:    e.Entries,
		Install:    e.Install,
		Elsewhere:  e.Elsewhere,
	}
}

func (l tableLanguage) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	return host.find(ctx, search{
		Language: l.entry.Name,
		Title:    l.entry.Title,
		Names:    l.entry.Programs,
		Globs:    l.entry.Globs,
		Args:     l.entry.Version.Args,
		Pattern:  regexp.MustCompile("(?m)" + l.entry.Version.Pattern),
		Oldest:   l.entry.Version.Oldest,
	})
}

func (l tableLanguage) Plan(tc Toolchain, src Source, _ Resources) (Plan, error) {
	info := l.Info()
	files := sourceFiles(src, info.Entries[0])
	if src.Code != nil && src.Entry == "" {
		src.Entry = info.Entries[0]
	}
	main, err := l.main(files, src.Entry)
	if err != nil {
		return Plan{}, err
	}
	run := Step{Args: l.command(l.entry.Run, tc, src, main, files)}
	plan := Plan{
		Files: files,
		Run:   func(sandbox.FileTree) (Step, error) { return run, nil },
	}
	if !tc.inImage() {
		plan.Mounts = append(optionalMounts(l.entry.Files), hide(matching(l.entry.Hide)...)...)
	}
	if len(l.entry.Compile) > 0 {
		plan.Compile = &Step{Args: l.command(l.entry.Compile, tc, Source{}, main, files)}
	}
	return plan, nil
}

// main is the main source. A language that compiles all sources together needs
// none in particular.
func (l tableLanguage) main(files map[string][]byte, entry string) (string, error) {
	main, err := entryFile(l.Info(), files, entry)
	if err != nil && entry == "" && slices.Contains(l.entry.Compile, "{sources}") {
		if sources := l.sources(files); len(sources) > 0 {
			return sources[0], nil
		}
	}
	return main, err
}

// sources lists the files with an extension of the language.
func (l tableLanguage) sources(files map[string][]byte) []string {
	var sources []string
	for _, extension := range l.entry.Extensions {
		sources = append(sources, namesWithSuffix(files, extension)...)
	}
	return sources
}

// command fills in the placeholders. File names that could be taken for options
// get a directory.
func (l tableLanguage) command(template []string, tc Toolchain, src Source, main string, files map[string][]byte) []string {
	fill := strings.NewReplacer("{program}", tc.Program, "{main}", inWorkspace(src, main), "{build}", sandbox.BuildDir)
	var args []string
	for _, arg := range template {
		switch arg {
		case "{args}":
			args = append(args, src.Args...)
		case "{sources}":
			for _, source := range l.sources(files) {
				args = append(args, notOption(source))
			}
		default:
			args = append(args, fill.Replace(arg))
		}
	}
	return args
}

// notOption makes sure that a command takes a file name for one.
func notOption(name string) string {
	if strings.HasPrefix(name, "-") || strings.HasPrefix(name, "@") {
		return "./" + name
	}
	return name
}

// optionalMounts are the host's files that match patterns.
func optionalMounts(patterns []string) []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, name := range matching(patterns) {
		mounts = append(mounts, sandbox.Mount{Source: name, Optional: true})
	}
	return mounts
}

// matching lists the host's files that match patterns.
func matching(patterns []string) []string {
	var names []string
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the only error is a pattern that matches nothing
		names = append(names, found...)
	}
	return names
}

// noProcesses is what runtimes say of a fork or a thread that was refused, the last one in C++; files
// that do not block fail with the same words.
var noProcesses = lazyregexp.New(`(?i)(?:fork|thread|clone|spawn|process|what\(\):).*resource temporarily unavailable`)

func (l tableLanguage) Diagnose(phase, stderr string) Diagnosis {
	d := Diagnosis{
		Reason:      shorten(lastLine(stderr)),
		DiskFull:    diskFull(stderr),
		NoProcesses: noProcesses().MatchString(stderr),
	}
	patterns := l.entry.Diagnose.Run
	if phase == "compile" {
		patterns = l.entry.Diagnose.Compile
	}
	if reason, ok := firstMatch(patterns, stderr); ok {
		d.Reason = shorten(reason)
	}
	if reason, ok := firstMatch(l.entry.Diagnose.Syntax, stderr); ok && phase != "compile" {
		d.SyntaxError = true
		d.Reason = shorten(reason)
	}
	_, d.OutOfMemory = firstMatch(l.entry.Diagnose.Memory, stderr)
	return d
}

// firstMatch is what the first of patterns that matches says.
func firstMatch(patterns []string, text string) (string, bool) {
	for _, pattern := range patterns {
		match := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(text)
		if match != nil {
			return match[len(match)-1], true
		}
	}
	return "", false
}
