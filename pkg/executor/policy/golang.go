package policy

import (
	"go/scanner"
	"go/token"
	"strconv"
)

// scanGo reads the imports of a file, by its tokens: a syntax tree of as many as a file has room for
// is thirty times their size. What follows its imports is not read, and of a file that is no Go those
// before the error count.
func scanGo(name string, code []byte) *source {
	s := newSource()
	var tokens scanner.Scanner
	files := token.NewFileSet()
	tokens.Init(files.AddFile("", files.Base(), len(code)), code, nil, 0)
	for importing := false; !s.full; {
		pos, kind, text := tokens.Scan()
		switch kind {
		case token.IMPORT:
			importing = true
		case token.STRING:
			if module, err := strconv.Unquote(text); err == nil && importing {
				// Position without what a //line comment says.
				s.add(module, name, files.PositionFor(pos, false).Line)
			}
		case token.PACKAGE, token.IDENT, token.PERIOD, token.LPAREN, token.RPAREN, token.SEMICOLON:
		default:
			return s
		}
	}
	return s
}
