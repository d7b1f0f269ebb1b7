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
	goTest      = regexp.MustCompile(`\bgo test ([^|;&]*)`)
	goTestIn    = regexp.MustCompile(`(?:^| )(\./[\w./-]*\w)(?: |$)`)
	goTestFlag  = regexp.MustCompile(`(?:^|[ ,])--?([a-z][a-z0-9-]*)`)
	flagDeclare = regexp.MustCompile(`\bflag\.\w+\((?:&\w+, )?"([\w-]+)"`)
	// quoted are arguments, which may hold what ends a command elsewhere.
	quoted    = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	continued = regexp.MustCompile(`\\\n\s*`)
)

// goTestOwn are flags that every package's tests have.
var goTestOwn = strings.Fields("args bench benchmem benchtime c count cover coverpkg coverprofile cpu cpuprofile failfast fuzz fuzzminimizetime fuzztime " +
	"json ldflags list memprofile o p parallel race run short shuffle skip tags timeout v vet")

// flagsThatAreNot finds flags of tests that their package does not declare.
func flagsThatAreNot(f textFile) []finding {
	var found []finding
	text := continued.ReplaceAllString(f.text, " ")
	for i, line := range strings.Split(text, "\n") { // numbers are those of the lines as they are joined
		line = strings.NewReplacer("`", ";", "$(if ", " ", "${", "", "}", "", ")", " ").Replace(strings.ReplaceAll(line, "$(GO)", "go"))
		for _, call := range goTest.FindAllStringSubmatch(quoted.ReplaceAllString(line, "_"), -1) {
			found = append(found, unknownFlags(i+1, call[1])...)
		}
	}
	return found
}

// unknownFlags finds them in the arguments of one call.
func unknownFlags(line int, args string) (found []finding) {
	packages := goTestIn.FindAllStringSubmatch(args, -1)
	if len(packages) != 1 {
		return nil
	}
	has := declaredFlags(packages[0][1])
	for _, m := range goTestFlag.FindAllStringSubmatch(args, -1) {
		if !slices.Contains(goTestOwn, m[1]) && !slices.Contains(has, m[1]) {
			found = append(found, finding{line, "the tests in " + packages[0][1] + " have no flag -" + m[1]})
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
