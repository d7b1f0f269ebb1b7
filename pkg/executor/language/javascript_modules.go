package language

import (
	"bytes"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

var (
	// declaration is what only ES modules have.
	declaration = lazyregexp.New(`(?m)(?:^|;)\s*(?:` +
		`import(?:\s+[\w$]|\s*[*{"'])|` +
		`export(?:\s+(?:default|const|let|var|function|class|async)\b|\s*[*{]))|` +
		`\bimport\.meta\b`)
	// commonJS are names that ES modules do not have.
	commonJS = lazyregexp.New(`\b(?:require|module|exports)\b`)
)

// usesModules guesses whether JavaScript is an ES module: it has an import or
// export declaration, import.meta, or await outside of every function. It is
// asked only where Node does not find out itself, and errs on the side of
// CommonJS.
func usesModules(code []byte) bool {
	bare := blankLiterals(code)
	if declaration().Match(bare) {
		return true
	}
	if commonJS().Match(bare) {
		return false
	}
	return awaitsOutside(bare)
}

// awaiting matches braces and awaits; that of an async arrow without braces together with its arrow.
var awaiting = lazyregexp.New(`[{}]|\basync\s*(?:\([^()]*\)|[\w$]+)\s*=>\s*await\b|\bawait\b`)

// awaitsOutside tells whether there is an await outside of all braces.
func awaitsOutside(bare []byte) bool {
	depth := 0
	for _, token := range awaiting().FindAll(bare, -1) {
		switch string(token) {
		case "{":
			depth++
		case "}":
			depth--
		case "await":
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// blankLiterals replaces the insides of comments, strings and templates by
// spaces. A quote in a regular expression may hide what follows on its line.
func blankLiterals(code []byte) []byte {
	bare := bytes.Clone(code)
	for i := 0; i < len(bare); {
		open, end := literal(bare[i:])
		if end == 0 {
			i++
			continue
		}
		for j := i + open; j < min(i+end-1, len(bare)); j++ {
			if bare[j] != '\n' {
				bare[j] = ' '
			}
		}
		i += end
	}
	return bare
}

// literal measures the comment, string or template that code starts with: how
// long its opening is, and where it ends; 0 if there is none. A string ends
// with its line at the latest.
func literal(code []byte) (open, end int) {
	upTo := func(open int, close string) (int, int) {
		if n := bytes.Index(code[open:], []byte(close)); n >= 0 {
			return 0, open + n + len(close)
		}
		return 0, len(code) + 1
	}
	switch {
	case bytes.HasPrefix(code, []byte("//")), bytes.HasPrefix(code, []byte("#!")):
		return upTo(2, "\n")
	case bytes.HasPrefix(code, []byte("/*")):
		return upTo(2, "*/")
	}
	quote := code[0]
	if quote != '"' && quote != '\'' && quote != '`' {
		return 0, 0
	}
	for i := 1; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == quote, code[i] == '\n' && quote != '`':
			return 1, i + 1
		}
	}
	return 1, len(code) + 1
}
