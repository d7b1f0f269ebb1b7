package policy

import (
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// javaReader follows the tokens of a file.
type javaReader struct {
	*source
	file string
	// importing is set in an import declaration, and then whole is set for one of a
	// module (JLS 7.5.5) and star for one that ends in .*.
	importing, whole, star bool
	// path is the qualified name that is being read, dotted whether a dot came last.
	path   string
	dotted bool
	line   int
	// before is the token before path, last the latest of all.
	before, last string
}

// scanJava reads import declarations and every qualified name in the code. Names of
// java.lang need no import, and those of a package that is imported with a * are
// found where they are used.
func scanJava(name string, code []byte) *source {
	r := javaReader{source: newSource(), file: name}
	r.glob("java.lang")
	for line, token := range language.JavaTokens(code) {
		text := string(token)
		if r.importing {
			r.declaration(text)
		} else {
			r.code(text, line)
		}
		r.last = text
	}
	r.flush()
	return r.source
}

// declaration takes a token of an import declaration.
func (r *javaReader) declaration(text string) {
	switch {
	case text == ";":
		r.conclude()
	case text == "static" && r.path == "":
	case text == "*":
		r.star = true
	case text == ".":
		r.dotted = true
	case !isJavaWord(text):
		r.reset()
	case r.dotted || r.path == "":
		r.extend(text)
	default: // import module java.base;
		r.whole, r.path = true, text
	}
}

// conclude ends an import declaration.
func (r *javaReader) conclude() {
	r.add(r.path, r.file, r.line)
	switch {
	case r.path == "":
	case r.whole:
		r.everything = true
	case r.star:
		r.glob(r.path)
	default:
		r.rename(r.path[strings.LastIndexByte(r.path, '.')+1:], r.path)
	}
	r.reset()
}

// code takes a token from outside of import declarations.
func (r *javaReader) code(text string, line int) {
	switch {
	case text == "." && r.path != "" && !r.dotted:
		r.dotted = true
	case text == "import" && r.last != ".":
		r.flush()
		r.importing, r.line = true, line
	case isJavaWord(text) && r.dotted:
		r.extend(text)
	case isJavaWord(text):
		r.flush()
		r.before, r.path, r.line = r.last, text, line
	default:
		r.flush()
	}
}

func (r *javaReader) extend(part string) {
	if r.path != "" {
		part = r.path + "." + part
	}
	r.path, r.dotted = clip(part), false
}

// flush ends a name.
func (r *javaReader) flush() {
	switch r.before {
	case "class", "interface", "enum", "record":
		if r.path != "" && r.room() {
			r.hidden[r.path] = true
		}
	case ".": // a member of what a call has returned
	default:
		if r.path != "" {
			r.see(r.path, r.line)
		}
	}
	r.reset()
}

func (r *javaReader) reset() {
	r.importing, r.whole, r.star, r.dotted, r.path, r.before = false, false, false, false, "", ""
}

func isJavaWord(text string) bool {
	return text != "" && isWordByte(text[0]) || text != "" && text[0] == '$'
}
