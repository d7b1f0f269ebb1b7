package language

import (
	"bytes"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// javaToken is an identifier or keyword, one byte of punctuation, or a literal.
// The zero token is the end of the source.
type javaToken struct {
	kind javaKind
	text []byte // of identifiers and punctuation; a part of the source
}

type javaKind byte

const (
	javaEnd javaKind = iota
	javaIdentifier
	javaPunctuation
	javaLiteral
)

func (t javaToken) is(text string) bool { return string(t.text) == text }

// javaLexer splits Java source into tokens (JLS 3.3–3.12) as far as it takes to
// never mistake a comment or a literal for code. Source that is not Java gives
// tokens too; the compiler is the one to complain.
type javaLexer struct {
	src []byte // with Unicode escapes translated
	pos int
	// comment is called with each comment; it may be nil.
	comment func(text []byte)
}

func newJavaLexer(code []byte, comment func([]byte)) *javaLexer {
	return &javaLexer{src: translateUnicodeEscapes(code), comment: comment}
}

// JavaTokens are the tokens of Java source, each with its line: identifiers, keywords,
// single bytes of punctuation, and nil for a literal. Unicode escapes are translated.
func JavaTokens(code []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		l, line, counted := newJavaLexer(code, nil), 1, 0
		for t := l.next(); t.kind != javaEnd; t = l.next() {
			start := l.pos - len(t.text)
			line += bytes.Count(l.src[counted:start], []byte("\n"))
			counted = start
			if !yield(line, t.text) {
				return
			}
		}
	}
}

// next returns the next token.
func (l *javaLexer) next() javaToken {
	l.skipBlanks()
	if l.pos >= len(l.src) {
		return javaToken{}
	}
	start := l.pos
	c := l.src[l.pos]
	switch {
	case c == '"' && bytes.HasPrefix(l.src[l.pos:], []byte(`"""`)):
		l.pos += 3
		l.skipTo(`"""`, false)
	case c == '"' || c == '\'':
		l.pos++
		l.skipTo(string(c), true)
	case isDigit(c):
		for l.pos < len(l.src) && (isJavaPart(l.src[l.pos]) || l.src[l.pos] == '.') {
			l.pos++
		}
	case isJavaPart(c):
		for l.pos < len(l.src) && isJavaPart(l.src[l.pos]) {
			l.pos++
		}
		return javaToken{javaIdentifier, l.src[start:l.pos]}
	default:
		l.pos++
		return javaToken{javaPunctuation, l.src[start:l.pos]}
	}
	return javaToken{kind: javaLiteral}
}

// skipBlanks passes over white space and comments.
func (l *javaLexer) skipBlanks() {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			l.skipComment(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			l.skipComment(rest, "*/")
		case rest[0] <= ' ':
			l.pos++
		default:
			return
		}
	}
}

// skipComment passes over the comment that rest begins with.
func (l *javaLexer) skipComment(rest []byte, end string) {
	length := len(rest)
	if i := bytes.Index(rest[2:], []byte(end)); i >= 0 {
		length = 2 + i + len(end)
	}
	l.pos += length
	if l.comment != nil {
		l.comment(rest[:length])
	}
}

// skipTo passes over the rest of a literal, escapes included. A literal of one
// line ends there even when its quote is missing.
func (l *javaLexer) skipTo(quote string, oneLine bool) {
	for l.pos < len(l.src) {
		switch {
		case bytes.HasPrefix(l.src[l.pos:], []byte(quote)):
			l.pos += len(quote)
			return
		case oneLine && (l.src[l.pos] == '\n' || l.src[l.pos] == '\r'):
			return
		case l.src[l.pos] == '\\':
			l.pos = min(l.pos+2, len(l.src))
		default:
			l.pos++
		}
	}
}

// isJavaPart tells whether a byte is part of an identifier or number. Beyond
// ASCII there is nothing else outside of comments and literals.
func isJavaPart(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// translateUnicodeEscapes replaces \uXXXX by the character, which Java does
// before anything else (JLS 3.3): such an escape may stand in an identifier, or
// be the quote that ends a string. A backslash that another one escapes begins
// none.
func translateUnicodeEscapes(code []byte) []byte {
	if !bytes.Contains(code, []byte(`\u`)) {
		return code
	}
	out := make([]byte, 0, len(code))
	var units []uint16 // a run of escapes, which may hold surrogate pairs
	flush := func() {
		for _, r := range utf16.Decode(units) {
			out = utf8.AppendRune(out, r)
		}
		units = units[:0]
	}
	for i := 0; i < len(code); {
		unit, size := unicodeEscape(code[i:])
		if size > 0 {
			units = append(units, unit)
			i += size
			continue
		}
		flush()
		if code[i] == '\\' && i+1 < len(code) && code[i+1] == '\\' {
			out = append(out, code[i])
			i++
		}
		out = append(out, code[i])
		i++
	}
	flush()
	return out
}

// unicodeEscape reads \uXXXX, with any number of u's; a size of 0 means that
// code does not begin with one.
func unicodeEscape(code []byte) (unit uint16, size int) {
	if len(code) < 6 || code[0] != '\\' || code[1] != 'u' {
		return 0, 0
	}
	digits := bytes.TrimLeft(code[1:], "u")
	if len(digits) < 4 {
		return 0, 0
	}
	value, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return uint16(value), len(code) - len(digits) + 4
}
