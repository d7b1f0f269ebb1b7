package policy

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Import is one import.
type Import struct {
	Module string
	File   string
	Line   int // 0 where it is not known
}

// source is what one file imports.
type source struct {
	imports []Import
	// paths are qualified names in the code, whatever they turn out to be.
	paths map[string]int // with the first line
	// globs are the modules all of whose names are imported, aliases the names that
	// imported ones were given, and hidden the names that are the file's own.
	globs   []string
	aliases map[string][]string
	hidden  map[string]bool
	// everything is set when there is no telling what is imported.
	everything bool
	// names is how many there are of all these, and full that there are more.
	names int
	full  bool
}

func newSource() *source {
	return &source{paths: map[string]int{}, aliases: map[string][]string{}, hidden: map[string]bool{}}
}

// maxNames bounds what is remembered of a file. No program by hand comes near.
const maxNames = 50_000

func (s *source) room() bool {
	s.names++
	s.full = s.names > maxNames
	return !s.full
}

func (s *source) add(module, file string, line int) {
	if module != "" && s.room() {
		s.imports = append(s.imports, Import{clip(module), file, line})
	}
}

func (s *source) see(path string, line int) {
	if _, known := s.paths[path]; !known && s.room() {
		s.paths[path] = line
	}
}

func (s *source) rename(name, path string) {
	if name != "_" && !slices.Contains(s.aliases[name], path) && s.room() {
		s.aliases[name] = append(s.aliases[name], path)
	}
}

// clip bounds a name: no rule is as long.
func clip(name string) string { return name[:min(len(name), 2*maxModule)] }

// scanners read the languages that are read here. Each takes any bytes.
var scanners = map[string]struct {
	extensions []string
	scan       func(name string, code []byte) *source
}{
	"go":         {[]string{".go"}, scanGo},
	"javascript": {[]string{".js", ".mjs", ".cjs"}, scanJavaScript},
	"rust":       {[]string{".rs"}, scanRust},
	"java":       {[]string{".java"}, scanJava},
}

// Scans tells whether a language's imports are found by [Scan]; those of others are
// told while they are compiled or run.
func Scans(language string) bool { return scanners[language].scan != nil }

// Findings are what the sources of a program import.
type Findings struct {
	Imports []Import
	Blocked []string // the rules, sorted
	// Incomplete says why not everything was found; empty when it was.
	Incomplete string
}

// Scan reads a program's sources. main is the file that is source whatever its name.
func Scan(language string, files map[string][]byte, main string, list List) Findings {
	var f Findings
	for _, name := range slices.Sorted(maps.Keys(files)) {
		scanner := scanners[language]
		if name != main && !slices.Contains(scanner.extensions, strings.ToLower(path.Ext(name))) {
			continue
		}
		s := scanner.scan(name, files[name])
		f.Imports = append(append(f.Imports, s.imports...), s.qualified(name, list)...)
		if s.full {
			f.Incomplete = fmt.Sprintf("%s names more than %d modules", name, maxNames)
		}
	}
	f.Imports = tidy(f.Imports)
	f.Blocked = list.among(f.Imports)
	return f
}

// among are the rules that block imports, sorted.
func (l List) among(imports []Import) []string {
	found := map[string]bool{}
	for _, i := range imports {
		if rule, ok := l.Match(i.Module); ok {
			found[rule] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// tidy sorts imports and leaves out those that come again.
func tidy(imports []Import) []Import {
	slices.SortFunc(imports, func(a, b Import) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Line, b.Line))
	})
	return slices.CompactFunc(imports, func(a, b Import) bool { return a.File == b.File && a.Module == b.Module })
}

// qualified are the blocked modules that the code names in full, or by what a glob
// or an alias lets it leave out.
func (s *source) qualified(file string, list List) (blocked []Import) {
	var globs []string
	for _, glob := range append(list.parents(s.everything), s.globs...) {
		if list.below(glob) && !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.paths)) {
		first, _, _ := strings.Cut(name, list.separator)
		candidates := []string{name}
		for _, full := range s.aliases[first] {
			candidates = append(candidates, full+name[len(first):])
		}
		if len(candidates) == 1 && !s.hidden[first] {
			for _, glob := range globs {
				candidates = append(candidates, glob+list.separator+name)
			}
		}
		for _, full := range candidates {
			if rule, ok := list.Match(full); ok {
				blocked = append(blocked, Import{rule, file, s.paths[name]})
			}
		}
	}
	return blocked
}

// parents are the modules that rules are about a part of; none if they are not wanted.
func (l List) parents(wanted bool) (parents []string) {
	for rule := range l.modules {
		if i := strings.LastIndex(rule, l.separator); wanted && i > 0 {
			parents = append(parents, rule[:i])
		}
	}
	return parents
}

// below tells whether any rule is about something in a module.
func (l List) below(module string) bool {
	for rule := range l.modules {
		if _, is := strings.CutPrefix(rule, module+l.separator); is {
			return true
		}
	}
	return false
}
