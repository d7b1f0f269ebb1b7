package policy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
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
	globs   map[string]bool
	aliases map[string]map[string]bool
	hidden  map[string]bool
	// shared are such names as well, of the other files of its package.
	shared map[string]bool
	// everything is set when there is no telling what is imported.
	everything bool
	// names is how many there are of all these, and full that there are more.
	names int
	full  bool
}

func newSource() *source {
	return &source{paths: map[string]int{}, globs: map[string]bool{}, aliases: map[string]map[string]bool{}, hidden: map[string]bool{}}
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
	if name == "_" || s.aliases[name][path] || !s.room() {
		return
	}
	if s.aliases[name] == nil {
		s.aliases[name] = map[string]bool{}
	}
	s.aliases[name][path] = true
}

func (s *source) glob(module string) {
	if !s.globs[module] && s.room() {
		s.globs[module] = true
	}
}

// clip bounds a name: no rule is as long.
func clip(name string) string { return name[:min(len(name), 2*maxModule)] }

// scanner reads a language. It takes any bytes.
type scanner struct {
	extensions []string
	scan       func(name string, code []byte) *source
	// declares are a file's package and the types at its top, which the other files of
	// the package see without an import; nil where files see nothing of each other.
	declares func(code []byte) (pkg string, types []string)
	// compiled are those of the files that belong to the program.
	compiled func(names []string) []string
}

// scanners read the languages that are read here.
var scanners = map[string]scanner{
	"go":         {[]string{".go"}, scanGo, nil, nil},
	"javascript": {[]string{".js", ".mjs", ".cjs"}, scanJavaScript, nil, nil},
	"rust":       {[]string{".rs"}, scanRust, nil, nil},
	"java":       {[]string{".java"}, scanJava, language.JavaTypes, language.JavaSources},
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
// Nothing is read any more when ctx is done.
func Scan(ctx context.Context, language string, files map[string][]byte, main string, list List) Findings {
	var f Findings
	scanner, left := scanners[language], maxSteps
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return name != main && !slices.Contains(scanner.extensions, strings.ToLower(path.Ext(name)))
	})
	shared := scanner.shared(ctx, files, names, list)
	for _, name := range names {
		if ctx.Err() != nil {
			f.Incomplete = "the run was cancelled while they were read"
			break
		}
		s := scanner.scan(name, files[name])
		s.shared = shared[name]
		f.Imports = append(append(f.Imports, s.imports...), s.qualified(name, list, &left)...)
		if s.full {
			f.Incomplete = fmt.Sprintf("%s names more than %d modules", name, maxNames)
		}
		if left <= 0 {
			f.Incomplete = fmt.Sprintf("there is more in them than can be held against the list: the last that was read is %s", name)
			break
		}
	}
	f.Imports = tidy(f.Imports)
	f.Blocked = list.among(f.Imports)
	return f
}

// shared are, by the name of a file, the types that the files of its package have, of such
// names as are in a rule: no others matter, and there are as many as a request has room for.
func (s scanner) shared(ctx context.Context, files map[string][]byte, names []string, list List) map[string]map[string]bool {
	if s.declares == nil || len(names) < 2 {
		return nil
	}
	matter := map[string]bool{}
	for rule := range list.modules {
		for part := range strings.SplitSeq(rule, list.separator) {
			matter[part] = true
		}
	}
	packages, of := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, name := range s.compiled(names) {
		if ctx.Err() != nil {
			break
		}
		pkg, types := s.declares(files[name])
		if packages[pkg] == nil {
			packages[pkg] = map[string]bool{}
		}
		for _, t := range types {
			if matter[t] {
				packages[pkg][t] = true
			}
		}
		of[name] = packages[pkg]
	}
	return of
}

// maxSteps bounds how often a name in the sources is looked up in a list. It takes a
// second, and all the names of the largest program that fits into a request take less.
const maxSteps = 1 << 24

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
// or an alias lets it leave out. It ends when no steps are left.
func (s *source) qualified(file string, list List, left *int) (blocked []Import) {
	found := map[string]int{} // the rules, with the first line
	s.eachName(list, left, func(name string, line int) {
		rule, steps := list.match(name)
		*left -= steps
		if first, known := found[rule]; rule != "" && (!known || line < first) {
			found[rule] = line
		}
	})
	for rule, line := range found {
		blocked = append(blocked, Import{rule, file, line})
	}
	return blocked
}

// eachName calls look with each name of the code, and with all that it may stand for of
// what rules are about.
func (s *source) eachName(list List, left *int, look func(name string, line int)) {
	globs, reaches := list.globs(s), map[string]reach{}
	for name, line := range s.paths {
		if *left <= 0 {
			return
		}
		look(name, line)
		first, _, _ := strings.Cut(name, list.separator)
		aliases, renamed := s.aliases[first]
		if _, known := reaches[first]; renamed && !known {
			reaches[first] = list.reach(aliases, left)
		}
		for module := range reaches[first].parents {
			look(module+name[len(first):], line)
		}
		for rule := range reaches[first].rules {
			look(rule, line)
		}
		if renamed || s.hidden[first] || s.shared[first] {
			continue
		}
		for _, glob := range globs {
			look(glob+list.separator+name, line)
		}
	}
}

// globs are the modules all of whose names are imported and which rules are about a part
// of.
func (l List) globs(s *source) (globs []string) {
	for glob := range s.globs {
		if l.parents[glob] {
			globs = append(globs, glob)
		}
	}
	for rule := range l.modules {
		if i := strings.LastIndex(rule, l.separator); s.everything && i > 0 {
			globs = append(globs, rule[:i])
		}
	}
	slices.Sort(globs)
	return slices.Compact(globs)
}

// reach is what of some modules rules are about: such as have rules below them, and the
// rules that block the others, with all that is in them.
type reach struct{ parents, rules map[string]bool }

func (l List) reach(modules map[string]bool, left *int) reach {
	found := reach{map[string]bool{}, map[string]bool{}}
	for module := range modules {
		rule, steps := l.match(module)
		*left -= steps
		if l.parents[module] {
			found.parents[module] = true
		} else if rule != "" {
			found.rules[rule] = true
		}
	}
	return found
}
