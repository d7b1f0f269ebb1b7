package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// apart is a number of the catalogue that is tried elsewhere: by a test in a file, or
// by none, with a dash for the file, for a reason.
type apart struct{ id, file, test string }

// elsewhere are the lines of rows/elsewhere.txt.
func elsewhere() (all []apart) {
	for _, line := range numbered("rows/elsewhere.txt") {
		file, test, _ := strings.Cut(line.text, " ")
		all = append(all, apart{line.id, file, test})
	}
	return all
}

// line is one of a file of rows that begins with a number of the catalogue.
type line struct{ id, text string }

func numbered(file string) (all []line) {
	text, err := rowFiles.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	for l := range strings.Lines(string(text)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		all = append(all, line{id, rest})
	}
	return all
}

// listed tells whether a number is one of the catalogue's, which rows/catalogue.txt has all of.
func listed(id string) bool {
	return slices.ContainsFunc(numbered("rows/catalogue.txt"), func(l line) bool { return l.id == id })
}

// TestElsewhere holds rows/elsewhere.txt to its word: the tests that it names are
// there.
func TestElsewhere(t *testing.T) {
	for _, a := range elsewhere() {
		if !listed(a.id) || a.test == "" {
			t.Errorf("%s is no number with a test or a reason", a)
		}
		if a.file == "-" {
			continue
		}
		source, err := os.ReadFile(filepath.Join("../..", a.file))
		if err != nil {
			t.Errorf("%s: %v", a.id, err)
		} else if !regexp.MustCompile(`(?m)^func (\(\w+ \*?\w+\) )?` + regexp.QuoteMeta(a.test) + `\(`).Match(source) {
			t.Errorf("%s: %s has no %s", a.id, a.file, a.test)
		}
	}
}

// TestCatalogue holds the catalogue against what there is: each number has a row, a
// test here, or a line of rows/elsewhere.txt.
func TestCatalogue(t *testing.T) {
	tried := map[string]bool{}
	for _, r := range everyRow(t) {
		for _, id := range r.ids {
			tried[id] = true
		}
	}
	for _, a := range elsewhere() {
		tried[a.id] = true
	}
	for _, id := range ofTests(t) {
		tried[id] = true
		if id != "hello" && !listed(id) {
			t.Errorf("a test is of %s, which is no number of the catalogue", id)
		}
	}
	last := map[byte]int{}
	for _, l := range numbered("rows/catalogue.txt") {
		if !catalogue.MatchString(l.id) || l.text == "" {
			t.Errorf("%q is no number of the catalogue with what it is", l)
			continue
		}
		if !tried[l.id] {
			t.Errorf("%s, %s, has no row, no test and no reason why", l.id, l.text)
		}
		var n int
		if _, err := fmt.Sscan(l.id[1:], &n); err != nil || n <= last[l.id[0]] {
			t.Errorf("%s is not in its place", l.id)
		}
		last[l.id[0]] = n
	}
}

// ofTests are the numbers that the tests here say they are of.
func ofTests(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\b(?:each|on)\(t, (?:[\w()]+, )?"(\w+)"`).FindAllSubmatch(source, -1) {
			ids = append(ids, string(m[1]))
		}
	}
	return ids
}

// placed is a table of what is tried elsewhere.
func placed() string {
	var b strings.Builder
	b.WriteString("\nTried by other tests, alone or beside the rows above; where none can be, it says why:\n\n| number | what it is | where |\n|---|---|---|\n")
	for _, l := range numbered("rows/catalogue.txt") {
		var where []string
		for _, a := range elsewhere() {
			switch {
			case a.id != l.id:
			case a.file == "-":
				where = append(where, a.test)
			default:
				where = append(where, fmt.Sprintf("`%s` of %s", a.test, filepath.Dir(a.file)))
			}
		}
		if len(where) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", l.id, l.text, strings.Join(where, ", "))
		}
	}
	return b.String()
}
