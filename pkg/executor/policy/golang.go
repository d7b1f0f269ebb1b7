package policy

import (
	"go/parser"
	"go/token"
	"strconv"
)

// scanGo reads the imports of a file. What follows its imports is not parsed, and of
// a file that is no Go those before the error count.
func scanGo(name string, code []byte) *source {
	s := newSource()
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", code, parser.ImportsOnly)
	if file == nil {
		return s
	}
	for _, spec := range file.Imports {
		if module, err := strconv.Unquote(spec.Path.Value); err == nil {
			// Position without what a //line comment says.
			s.add(module, name, files.PositionFor(spec.Pos(), false).Line)
		}
	}
	return s
}
