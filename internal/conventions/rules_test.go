package conventions

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"testing"
)

// finding is one place where a rule is broken.
type finding struct {
	line int
	text string
}

// rule is a convention about single files. A rule about Go sets findGo, one
// about any text sets findText.
type rule struct {
	name string
	// why is shown with every finding.
	why      string
	findGo   func(f *goFile) []finding
	findText func(f textFile) []finding
	// path is what the two samples are called; empty means pkg/sample/sample.go.
	path string
	// bad breaks the rule, good keeps it.
	bad, good string
	// except maps files that may break it, as patterns of path.Match, to the
	// reason.
	except map[string]string
}

func rules() []rule {
	return slices.Concat(readingRules(), securityRules(), textRules())
}

func (r rule) find(text textFile) ([]finding, error) {
	if r.findText != nil {
		return r.findText(text), nil
	}
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	return r.findGo(f), nil
}

// TestRulesSee proves that each rule tells its two samples apart.
func TestRulesSee(t *testing.T) {
	for _, r := range rules() {
		name := cmp.Or(r.path, "pkg/sample/sample.go")
		if found, err := r.find(textFile{name, r.bad}); err != nil || len(found) == 0 {
			t.Errorf("%s: the bad sample passes (%v):\n%s", r.name, err, r.bad)
		}
		if found, err := r.find(textFile{name, r.good}); err != nil || len(found) > 0 {
			t.Errorf("%s: the good sample fails: %v %v", r.name, found, err)
		}
	}
}

// TestRules holds every file of the module against every rule.
func TestRules(t *testing.T) {
	texts, gos := mustTextFiles(t), mustGoFiles(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			found := map[string][]finding{}
			for _, f := range texts {
				if r.findText != nil {
					found[f.path] = r.findText(f)
				}
			}
			for _, f := range gos {
				if r.findGo != nil {
					found[f.path] = r.findGo(f)
				}
			}
			r.judge(t, found)
		})
	}
}

func (r rule) judge(t *testing.T, found map[string][]finding) {
	for pattern, reason := range r.except {
		if !except(found, pattern) {
			t.Errorf("%s is an exception (%s) that nothing needs: delete it", pattern, reason)
		}
	}
	broken := false
	for _, file := range slices.Sorted(maps.Keys(found)) {
		for _, f := range found[file] {
			broken = true
			t.Errorf("%s:%d: %s", file, f.line, f.text)
		}
	}
	if broken {
		t.Log("why: " + r.why)
	}
}

// except removes what was found in files that a pattern matches, and tells
// whether there was anything.
func except(found map[string][]finding, pattern string) bool {
	needed := false
	for file := range found {
		if match, _ := path.Match(pattern, file); match {
			needed = needed || len(found[file]) > 0
			delete(found, file)
		}
	}
	return needed
}
