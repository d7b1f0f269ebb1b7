package policy

import "github.com/sandbox-run/sandbox-run/pkg/executor/language"

// scanGo reads the imports of a file. What follows them is not read.
func scanGo(name string, code []byte) *source {
	s := newSource()
	for line, module := range language.GoImports(code) {
		if s.add(module, name, line); s.full {
			break
		}
	}
	return s
}
