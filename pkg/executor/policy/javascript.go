package policy

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsToken is an identifier or keyword, a string (also a template without
// substitutions), one byte of punctuation, or another literal.
type jsToken struct {
	kind jsKind
	text string // of a string: its value
	line int
}

type jsKind byte

const (
	jsEnd jsKind = iota
	jsWord
	jsString
	jsPunctuation
	jsLiteral
)

// jsLexer splits JavaScript into tokens (ECMA-262, 12) without parsing it: a parser
// recurses, and source may be written to end a process that does (each bracket
// costs esbuild five kilobytes of stack). What takes a parser is only whether a
// slash divides or begins a regular expression. That follows from the token before
// it, and after ) and } from what stood before the bracket that they close.
type jsLexer struct {
	src  []byte
	pos  int
	line int
	// divides tells what a slash would be now.
	divides bool
	last    jsToken
	before  jsToken // the one before last
	open    []jsBracket
}

// jsBracket is a bracket that is open.
type jsBracket struct {
	kind byte // ( [ {, or ` for ${
	// divides tells what a slash behind the closing one is.
	divides bool
	// expression is set where { begins an object and a colon separates.
	expression bool
}

// maxBrackets bounds what hostile source makes us remember; deeper ones close the
// last that is remembered.
const maxBrackets = 1 << 16

func newJSLexer(code []byte) *jsLexer {
	l := &jsLexer{src: code, line: 1}
	if bytes.HasPrefix(code, []byte("#!")) {
		l.skipLine()
	}
	return l
}

// next returns the next token.
func (l *jsLexer) next() jsToken {
	l.skipBlanks()
	t := jsToken{line: l.line}
	if l.pos >= len(l.src) {
		return t
	}
	start := l.pos
	switch c := l.src[l.pos]; {
	case c == '"' || c == '\'':
		t.kind, t.text = jsString, l.str(c)
	case c == '`':
		l.pos++
		t.kind, t.text = l.template(true)
	case c == '/' && !l.divides:
		t.kind = jsLiteral
		l.skipRegExp()
	case c >= '0' && c <= '9' || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		t.kind = jsLiteral
		l.skipNumber()
	case isWordByte(c) || c == '$' || c == '\\' || c == '#':
		t.kind, t.text = jsWord, l.word()
	default:
		t = l.punctuation(t)
	}
	l.line += bytes.Count(l.src[start:l.pos], []byte("\n"))
	l.before, l.last = l.last, t
	if t.kind != jsPunctuation {
		l.divides = t.kind != jsWord || !l.expects(t.text)
	}
	return t
}

// expects tells whether an operand comes after a word.
func (l *jsLexer) expects(word string) bool {
	return l.before.text != "." && slices.Contains([]string{"return", "typeof", "instanceof", "in", "new", "delete", "void", "throw",
		"case", "do", "else", "await", "yield", "default", "extends"}, word)
}

// punctuation takes one byte of it and follows the brackets.
func (l *jsLexer) punctuation(t jsToken) jsToken {
	c := l.src[l.pos]
	l.pos++
	t.kind, t.text = jsPunctuation, string(c)
	switch c {
	case '(':
		head := l.last.kind == jsWord && l.before.text != "." && slices.Contains([]string{"if", "while", "for", "with"}, l.last.text)
		l.push(jsBracket{kind: c, divides: !head})
	case '[':
		l.push(jsBracket{kind: c, divides: true})
	case '{':
		object := l.beginsObject()
		l.push(jsBracket{kind: c, divides: object, expression: object})
	case ')', ']', '}':
		return l.closing(t, c)
	case '+', '-':
		if l.pos < len(l.src) && l.src[l.pos] == c { // a++ / b; and ++ needs no regular expression
			l.pos++
			return t
		}
	}
	l.divides = false
	return t
}

// closing takes a closing bracket. The one of a substitution goes on with its
// template.
func (l *jsLexer) closing(t jsToken, c byte) jsToken {
	if len(l.open) == 0 {
		l.divides = c != '}'
		return t
	}
	top := l.open[len(l.open)-1]
	l.open = l.open[:len(l.open)-1]
	l.divides = top.divides
	if top.kind == '`' && c == '}' {
		t.kind, t.text = l.template(false)
		t.kind = jsLiteral
	}
	return t
}

func (l *jsLexer) push(b jsBracket) {
	if len(l.open) < maxBrackets {
		l.open = append(l.open, b)
	}
}

// beginsObject tells whether the brace that comes begins an object, and no block.
func (l *jsLexer) beginsObject() bool {
	inObject := len(l.open) > 0 && (l.open[len(l.open)-1].expression || l.open[len(l.open)-1].kind != '{')
	switch {
	case l.last.kind == jsWord:
		return l.last.text != "do" && l.last.text != "else" && l.last.text != "default" && l.expects(l.last.text)
	case l.last.kind != jsPunctuation:
		return false
	case l.last.text == ">" && l.before.text == "=": // of an arrow
		return false
	case l.last.text == ":":
		return inObject
	}
	return !strings.Contains(");{}", l.last.text)
}

// skipBlanks passes over white space and comments, those of HTML too.
func (l *jsLexer) skipBlanks() {
	start, newLine := l.pos, l.last.kind == jsEnd
	defer func() { l.line += bytes.Count(l.src[start:min(l.pos, len(l.src))], []byte("\n")) }()
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("<!--")), newLine && bytes.HasPrefix(rest, []byte("-->")):
			l.skipLine()
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				l.pos = len(l.src)
				return
			}
			newLine = newLine || bytes.IndexByte(rest[:end+4], '\n') >= 0
			l.pos += end + 4
		case rest[0] <= ' ':
			newLine = newLine || rest[0] == '\n' || rest[0] == '\r'
			l.pos++
		default:
			size := jsSpace(rest)
			if size == 0 {
				return
			}
			l.pos += size
		}
	}
}

// jsSpace measures the white space beyond ASCII that text begins with.
func jsSpace(text []byte) int {
	if text[0] < utf8.RuneSelf {
		return 0
	}
	r, size := utf8.DecodeRune(text)
	switch {
	case r == 0xA0, r == 0xFEFF, r == 0x1680, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000:
		return size
	}
	return 0
}

// lineEnd measures the end of a line that text begins with.
func lineEnd(text []byte) int {
	switch {
	case text[0] == '\n', text[0] == '\r':
		return 1
	case bytes.HasPrefix(text, []byte("\u2028")), bytes.HasPrefix(text, []byte("\u2029")):
		return 3
	}
	return 0
}

func (l *jsLexer) skipLine() {
	for l.pos < len(l.src) && lineEnd(l.src[l.pos:]) == 0 {
		l.pos++
	}
}

func (l *jsLexer) skipNumber() {
	for l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || l.src[l.pos] == '.') {
		sign := l.pos+1 < len(l.src) && (l.src[l.pos] == 'e' || l.src[l.pos] == 'E') && (l.src[l.pos+1] == '+' || l.src[l.pos+1] == '-')
		l.pos++
		if sign {
			l.pos++
		}
	}
}

// skipRegExp passes over a regular expression; it ends with its line.
func (l *jsLexer) skipRegExp() {
	class := false
	for l.pos++; l.pos < len(l.src) && lineEnd(l.src[l.pos:]) == 0; l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\\' && l.pos+1 < len(l.src) && lineEnd(l.src[l.pos+1:]) == 0:
			l.pos++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for l.pos++; l.pos < len(l.src) && isWordByte(l.src[l.pos]); l.pos++ {
			}
			return
		}
	}
}

// word reads an identifier, whose letters may be written as escapes.
func (l *jsLexer) word() string {
	start := l.pos
	var out []byte
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\\':
			r, size := jsEscape(l.src[l.pos:])
			if size == 0 {
				size = 1
			} else {
				out = utf8.AppendRune(out, r)
			}
			l.pos += size
		case isWordByte(c) && jsSpace(l.src[l.pos:]) == 0, c == '$', c == '#' && l.pos == start:
			out = append(out, c)
			l.pos++
		default:
			return string(out)
		}
	}
	return string(out)
}

// str reads a string with its quotes.
func (l *jsLexer) str(quote byte) string {
	var out []byte
	for l.pos++; l.pos < len(l.src); {
		switch c := l.src[l.pos]; {
		case c == quote:
			l.pos++
			return string(out)
		case c == '\n' || c == '\r':
			return ""
		case c == '\\':
			out = l.escape(out)
		default:
			out = append(out, c)
			l.pos++
		}
	}
	return ""
}

// template reads a template up to its end or to a substitution, from behind its
// quote or behind the last substitution.
func (l *jsLexer) template(whole bool) (jsKind, string) {
	var out []byte
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '`':
			l.pos++
			l.divides = true
			if whole {
				return jsString, string(out)
			}
			return jsLiteral, ""
		case c == '$' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '{':
			l.pos += 2
			l.push(jsBracket{kind: '`'})
			return jsPunctuation, "${"
		case c == '\\':
			out = l.escape(out)
		default:
			out = append(out, c)
			l.pos++
		}
	}
	return jsLiteral, ""
}

// escape reads one escape of a string.
func (l *jsLexer) escape(out []byte) []byte {
	rest := l.src[l.pos:]
	if r, size := jsEscape(rest); size > 0 {
		l.pos += size
		return utf8.AppendRune(out, r)
	}
	if len(rest) < 2 {
		l.pos = len(l.src)
		return out
	}
	l.pos += 2
	if size := lineEnd(rest[1:]); size > 0 { // the string goes on
		if rest[1] == '\r' && len(rest) > 2 && rest[2] == '\n' {
			size++
		}
		l.pos += size - 1
		return out
	}
	return append(out, jsCharacter(rest[1]))
}

func jsCharacter(c byte) byte {
	if i := strings.IndexByte("btnvfr0", c); i >= 0 {
		return "\b\t\n\v\f\r\x00"[i]
	}
	return c
}

// jsEscape reads \xXX, \uXXXX, which may be half of a pair, or \u{X}.
func jsEscape(text []byte) (r rune, size int) {
	digits := func(from, to int) (rune, bool) {
		if len(text) < to {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[from:to]), 16, 32)
		return rune(min(n, utf8.MaxRune+1)), err == nil
	}
	switch {
	case bytes.HasPrefix(text, []byte(`\x`)):
		if r, ok := digits(2, 4); ok {
			return r, 4
		}
	case bytes.HasPrefix(text, []byte(`\u{`)):
		if end := bytes.IndexByte(text[:min(len(text), 16)], '}'); end > 0 {
			if r, ok := digits(3, end); ok {
				return r, end + 1
			}
		}
	case bytes.HasPrefix(text, []byte(`\u`)):
		high, ok := digits(2, 6)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(high) && bytes.HasPrefix(text[6:], []byte(`\u`)) {
			if low, ok := digits(8, 12); ok {
				return utf16.DecodeRune(high, low), 12
			}
		}
		return high, 6
	}
	return 0, 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
