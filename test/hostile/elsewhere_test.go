package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestElsewhere holds rows/elsewhere.txt to its word: the tests that it names are
// there. Each line is a number of the catalogue, and a file with a test in it, or a
// dash with the reason why there can be none.
func TestElsewhere(t *testing.T) {
	text, err := rowFiles.ReadFile("rows/elsewhere.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		file, name, _ := strings.Cut(rest, " ")
		if !catalogue.MatchString(id) || name == "" {
			t.Errorf("the line %q is no number with a test or a reason", line)
			continue
		}
		if file == "-" {
			continue
		}
		source, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Errorf("%s: %v", id, err)
		} else if !regexp.MustCompile(`(?m)^func (\(\w+ \*?\w+\) )?` + regexp.QuoteMeta(name) + `\(`).Match(source) {
			t.Errorf("%s: %s has no %s", id, file, name)
		}
	}
}
