package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goTest is a call of one package's tests, in a script, a document or the Makefile.
var (
	goTest      = regexp.MustCompile(`(?:\bgo|\$\(GO\)) test ([^|;&]*)`)
	goTestIn    = regexp.MustCompile(`(?:^| )(\./[\w./-]*\w)(?: |$)`)
	goTestFlag  = regexp.MustCompile(`(?:^|[ ,])-([a-z][a-z-]*)\b`)
	flagDeclare = regexp.MustCompile(`\bflag\.\w+\((?:&\w+, )?"([\w-]+)"`)
)

// goTestOwn are flags that every package's tests have.
var goTestOwn = []string{"args", "bench", "benchtime", "c", "count", "cover", "coverpkg", "coverprofile", "cpu", "fuzz", "fuzzminimizetime",
	"fuzztime", "json", "list", "o", "p", "race", "run", "short", "skip", "tags", "timeout", "update", "v"}

// flagsThatAreNot finds flags of tests that their package does not declare.
func flagsThatAreNot(f textFile) []finding {
	var found []finding
	for i, line := range strings.Split(f.text, "\n") {
		// A command may stand in quotes, and in a condition of make.
		line, _, _ = strings.Cut(line, "` ")
		line = strings.NewReplacer("`", " ", "$(if ", " ", ")", " ").Replace(strings.ReplaceAll(line, "$(GO)", "go"))
		call := goTest.FindStringSubmatch(line)
		if call == nil {
			continue
		}
		packages := goTestIn.FindAllStringSubmatch(call[1], -1)
		if len(packages) != 1 {
			continue
		}
		has := declaredFlags(packages[0][1])
		for _, m := range goTestFlag.FindAllStringSubmatch(call[1], -1) {
			if !slices.Contains(goTestOwn, m[1]) && !slices.Contains(has, m[1]) {
				found = append(found, finding{i + 1, "the tests in " + packages[0][1] + " have no flag -" + m[1]})
			}
		}
	}
	return found
}

// declaredFlags are those of the tests in a directory below the module's root.
func declaredFlags(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go")) // a good pattern
	for _, name := range files {
		text, _ := os.ReadFile(name) // one that is gone declares nothing
		for _, m := range flagDeclare.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
