package hostile

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

//go:embed rows testdata/lib
var rowFiles embed.FS

// row is a hostile program and what has to come of it: a file of rows, whose
// head is
//
//	One sentence that says what the program tries.
//
//	catalogue: A1 A2
//	expect: process_limit timeout
//	expect[restricted]: timeout
//	stdout: ^done\n$
//	guard: pids
//
// and whose parts are request.json, which holds the rest of the request, a main.*
// for each language that can express it, and further files of the workspace.
// A condition in brackets holds for combinations that have all of its words:
// a level, a user, a runtime, a language. The one with the most words counts.
// Beside these, "with" names files of testdata/lib that the program imports, "only" levels,
// users or runtimes without which a row has no meaning, "skip" says why one is left
// out, "open" what docs/SECURITY.md says stays open, and "long" why one runs with -all alone.
type row struct {
	name    string
	title   string
	ids     []string // of the catalogue
	guards  []string // without which the row must fail
	fields  map[string]string
	request string
	mains   map[string]string // file name by language
	files   map[string]string
}

// languages are the ones of main files, from the cheapest to run to the dearest.
var languages = []struct{ name, file string }{
	{"bash", "main.sh"}, {"python", "main.py"}, {"javascript", "main.js"}, {"typescript", "main.ts"}, {"c", "main.c"}, {"cpp", "main.cpp"},
	{"go", "main.go"}, {"rust", "main.rs"}, {"java", "Main.java"}, {"ruby", "main.rb"}, {"perl", "main.pl"}, {"php", "main.php"}, {"lua", "main.lua"},
}

// rows reads all of a directory, in order.
func rows(dir string) ([]row, error) {
	names, err := fs.Glob(rowFiles, dir+"/*.txtar")
	if err != nil {
		return nil, err
	}
	var all []row
	for _, name := range names {
		text, err := rowFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r, err := parseRow(strings.TrimSuffix(path.Base(name), ".txtar"), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

var (
	head      = regexp.MustCompile(`^(expect|stdout|stderr|result|catalogue|guard|only|skip|open|with|long)(\[[a-z0-9 ]+\])?: (.*)$`)
	statuses  = []api.Status{api.StatusOK, api.StatusRuntimeError, api.StatusCompileError, api.StatusSignaled, api.StatusTimeout, api.StatusCPULimit, api.StatusMemoryLimit, api.StatusOutputLimit, api.StatusDiskLimit, api.StatusProcessLimit, api.StatusPolicyBlocked}
	catalogue = regexp.MustCompile(`^[A-GIMW][0-9]+$`)
)

func parseRow(name string, text []byte) (row, error) {
	archive := txtar.Parse(text)
	title, rest, _ := strings.Cut(string(archive.Comment), "\n\n")
	r := row{name: name, title: strings.Join(strings.Fields(title), " "), fields: map[string]string{}, mains: map[string]string{}, files: map[string]string{}}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		m := head.FindStringSubmatch(line)
		switch {
		case line == "":
		case m == nil:
			return r, fmt.Errorf("the line %q has no key of ours", line)
		case m[1] == "catalogue":
			r.ids = strings.Fields(m[3])
		case m[1] == "guard":
			r.guards = strings.Fields(m[3])
		default:
			r.fields[m[1]+m[2]] = m[3]
		}
	}
	for _, f := range archive.Files {
		if f.Name == "request.json" {
			r.request = string(f.Data)
			continue
		}
		r.files[f.Name] = string(f.Data)
		for _, l := range languages {
			if l.file == f.Name {
				r.mains[l.name] = f.Name
			}
		}
	}
	for _, name := range strings.Fields(r.fields["with"]) {
		lib, err := rowFiles.ReadFile("testdata/lib/" + name)
		if err != nil {
			return r, err
		}
		r.files[name] = string(lib)
	}
	return r, r.check()
}

func (r row) check() error {
	if r.title == "" || len(r.ids) == 0 || len(r.mains) == 0 {
		return fmt.Errorf("a row has a title, a catalogue line and a program")
	}
	for _, id := range r.ids {
		if !listed(id) {
			return fmt.Errorf("%q is no number of the catalogue", id)
		}
	}
	for key, value := range r.fields {
		if name, _, _ := strings.Cut(key, "["); name == "expect" {
			for _, s := range strings.Fields(value) {
				if !slices.Contains(statuses, api.Status(s)) {
					return fmt.Errorf("%q is no status of a program", s)
				}
			}
		} else if !slices.Contains([]string{"only", "skip", "open", "with", "long"}, name) {
			if _, err := regexp.Compile(value); err != nil {
				return err
			}
		}
	}
	_, err := r.asked(r.cheapest(), nil)
	return err
}

// field is the value that counts for a combination's words, the most particular.
func (r row) field(name string, words []string) string {
	best, most := "", -1
	for _, key := range slices.Sorted(maps.Keys(r.fields)) {
		base, when, _ := strings.Cut(strings.TrimSuffix(key, "]"), "[")
		conditions := strings.Fields(when)
		if base != name || len(conditions) <= most || slices.ContainsFunc(conditions, func(c string) bool { return !slices.Contains(words, c) }) {
			continue
		}
		best, most = r.fields[key], len(conditions)
	}
	return best
}

// able tells whether the row has a meaning for a combination's words.
func (r row) able(words []string) bool {
	needs := strings.Fields(r.field("only", words))
	return len(needs) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(needs, w) })
}

// wanted tells whether the row is asked for.
func (r row) wanted() bool {
	return wanted(append(r.ids, r.name)...) && (*allOf || r.fields["long"] == "")
}

// wanted tells whether one of the names is asked for.
func wanted(names ...string) bool {
	return *only == "" || slices.ContainsFunc(strings.Split(*only, ","), func(n string) bool { return slices.Contains(names, n) })
}

// cheapest is the language that costs the least.
func (r row) cheapest() string {
	for _, l := range languages {
		if r.mains[l.name] != "" {
			return l.name
		}
	}
	return ""
}

// asked is the request: the row's own, with its files. Words such as @CANARY@ stand
// for places of this machine.
func (r row) asked(lang string, places map[string]string) (api.Request, error) {
	req := api.Request{TimeoutSeconds: 5}
	if r.request != "" {
		decoder := json.NewDecoder(strings.NewReader(r.request))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&req); err != nil {
			return req, fmt.Errorf("request.json: %w", err)
		}
	}
	var pairs []string
	for word, place := range places {
		pairs = append(pairs, "@"+word+"@", place)
	}
	fill := strings.NewReplacer(pairs...)
	req.Language, req.Entry = lang, r.mains[lang]
	if req.Files == nil {
		req.Files = map[string]api.InputFile{}
	}
	for name, text := range r.files {
		if name == r.mains[lang] || !slices.ContainsFunc(languages, func(l struct{ name, file string }) bool { return l.file == name }) {
			req.Files[name] = api.InputFile{Content: fill.Replace(text)}
		}
	}
	return req, nil
}

func TestRowsAreWellFormed(t *testing.T) {
	for _, dir := range []string{"rows", "rows/channels"} {
		if all, err := rows(dir); err != nil || len(all) == 0 {
			t.Fatalf("%d rows, %v", len(all), err)
		}
	}
}
