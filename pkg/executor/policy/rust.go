package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// rustToken is an identifier, "::" or one byte; text is empty at the end of the
// source, and for literals.
type rustToken struct {
	text string
	kind rustKind
	line int
}

type rustKind byte

const (
	rustEnd rustKind = iota
	rustIdentifier
	rustPunctuation
	rustLiteral
)

// rustLexer splits Rust source into tokens (The Rust Reference, Lexical structure)
// as far as it takes to never mistake a comment or a literal for code.
type rustLexer struct {
	src  []byte
	pos  int
	line int
	// ahead is a token that was read too early.
	ahead *rustToken
}

// next returns the next token.
func (l *rustLexer) next() rustToken {
	if t := l.ahead; t != nil {
		l.ahead = nil
		return *t
	}
	l.skipBlanks()
	token := rustToken{line: l.line}
	if l.pos >= len(l.src) {
		return token
	}
	start := l.pos
	switch c := l.src[l.pos]; {
	case c == '"':
		token.kind = rustLiteral
		l.skipString(1)
	case c == '\'':
		token.kind = rustLiteral
		l.skipQuote()
	case isWordByte(c):
		token.kind = l.word()
		token.text = string(l.src[start:l.pos])
	case bytes.HasPrefix(l.src[l.pos:], []byte("::")):
		l.pos += 2
		token.kind, token.text = rustPunctuation, "::"
	default:
		l.pos++
		token.kind, token.text = rustPunctuation, string(c)
	}
	if token.kind == rustLiteral {
		token.text = ""
	}
	token.text = strings.TrimPrefix(token.text, "r#")
	l.line += bytes.Count(l.src[start:l.pos], []byte("\n"))
	return token
}

// word passes over an identifier, a number, or a literal that begins like one:
// b"…", r#"…"#, b'…'. r#name is an identifier.
func (l *rustLexer) word() rustKind {
	start := l.pos
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		l.pos++
	}
	prefix, rest := string(l.src[start:l.pos]), l.src[l.pos:]
	hashes := len(rest) - len(bytes.TrimLeft(rest, "#"))
	quoted := len(rest) > hashes && rest[hashes] == '"'
	switch {
	case quoted && slices.Contains([]string{"r", "br", "cr"}, prefix):
		l.pos += hashes + 1
		l.skipTo(`"` + strings.Repeat("#", hashes))
		return rustLiteral
	case quoted && hashes == 0 && (prefix == "b" || prefix == "c"):
		l.skipString(1)
		return rustLiteral
	case prefix == "b" && len(rest) > 0 && rest[0] == '\'':
		l.skipQuote()
		return rustLiteral
	case prefix == "r" && hashes == 1 && len(rest) > 1 && isWordByte(rest[1]):
		for l.pos++; l.pos < len(l.src) && isWordByte(l.src[l.pos]); l.pos++ {
		}
	case prefix[0] >= '0' && prefix[0] <= '9':
		return rustLiteral
	}
	return rustIdentifier
}

// skipBlanks passes over white space and comments, which nest.
func (l *rustLexer) skipBlanks() {
	start := l.pos
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			l.skipTo("\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			l.skipNested()
		case rest[0] <= ' ':
			l.pos++
		default:
			l.line += bytes.Count(l.src[start:l.pos], []byte("\n"))
			return
		}
	}
}

func (l *rustLexer) skipNested() {
	l.pos += 2
	for depth := 1; depth > 0 && l.pos < len(l.src); {
		switch rest := l.src[l.pos:]; {
		case bytes.HasPrefix(rest, []byte("/*")):
			depth++
			l.pos += 2
		case bytes.HasPrefix(rest, []byte("*/")):
			depth--
			l.pos += 2
		default:
			l.pos++
		}
	}
}

// skipTo passes over everything up to and with end.
func (l *rustLexer) skipTo(end string) {
	if i := bytes.Index(l.src[l.pos:], []byte(end)); i >= 0 {
		l.pos += i + len(end)
		return
	}
	l.pos = len(l.src)
}

// skipString passes over a string with escapes, whose quote is open bytes long.
func (l *rustLexer) skipString(open int) {
	for l.pos += open; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case '\\':
			l.pos++
		case '"':
			l.pos++
			return
		}
	}
	l.pos = len(l.src)
}

// skipQuote passes over a character, or the quote of a lifetime ('a) alone.
func (l *rustLexer) skipQuote() {
	rest := l.src[l.pos+1:]
	_, size := utf8.DecodeRune(rest)
	switch {
	case len(rest) > 1 && rest[0] == '\\':
		if end := bytes.IndexAny(rest[2:min(len(rest), 16)], "'\n"); end >= 0 && rest[2+end] == '\'' {
			l.pos += 1 + 2 + end + 1
			return
		}
	case len(rest) > size && rest[size] == '\'':
		l.pos += 1 + size + 1
		return
	}
	l.pos++
}

// isWordByte tells whether a byte is part of an identifier or number. Beyond ASCII
// there is nothing else outside of comments and literals that matters.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// scanRust reads use declarations, extern crates, and every path in the code, those
// in macros too.
func scanRust(name string, code []byte) *source {
	s := newSource()
	l := &rustLexer{src: code, line: 1}
	for t := l.next(); t.kind != rustEnd; t = l.next() {
		switch {
		case t.kind == rustIdentifier && t.text == "use":
			s.rustUse(name, l)
		case t.kind == rustIdentifier && t.text == "extern":
			s.rustCrate(name, l)
		case t.kind == rustIdentifier:
			if path, _ := l.path(t); strings.Contains(path, "::") {
				s.see(path, t.line)
			}
		}
	}
	return s
}

// path reads the rest of a path, and tells whether it ends in "::".
func (l *rustLexer) path(first rustToken) (path string, open bool) {
	path = first.text
	for {
		t := l.next()
		if open = t.text == "::"; open {
			t = l.next()
		}
		if !open || t.kind != rustIdentifier {
			l.ahead = &t
			return path, open
		}
		path = clip(path + "::" + t.text)
	}
}

// rustUse reads the tree of a use declaration: use a::{b, c::*, d as e}.
func (s *source) rustUse(file string, l *rustLexer) {
	var prefixes []string // of the braces that are open
	prefix := func() string {
		if len(prefixes) == 0 {
			return ""
		}
		return prefixes[len(prefixes)-1]
	}
	last := ""
	for t := l.next(); ; t = l.next() {
		switch {
		case t.kind == rustEnd || t.text == ";" || t.kind == rustLiteral:
			return
		case t.text == "as":
			if alias := l.next(); alias.kind == rustIdentifier {
				s.rename(alias.text, last)
			}
		case t.kind == rustIdentifier:
			path, open := l.path(t)
			last = clip(strings.TrimSuffix(prefix()+path, "::self"))
			if !open {
				s.importRust(file, last, t.line)
			}
		case t.text == "*":
			module := strings.TrimSuffix(cmp.Or(last, prefix()), "::")
			s.glob(module)
			s.add(module, file, t.line)
		case t.text == "{":
			prefixes, last = append(prefixes, withColons(cmp.Or(last, prefix()))), ""
			if len(prefixes) > maxUseDepth {
				return
			}
		case t.text == "}" && len(prefixes) > 0:
			prefixes, last = prefixes[:len(prefixes)-1], ""
		case t.text == ",":
			last = ""
		}
	}
}

// maxUseDepth bounds what hostile source makes us remember.
const maxUseDepth = 256

func withColons(path string) string {
	if path == "" || strings.HasSuffix(path, "::") {
		return path
	}
	return path + "::"
}

func (s *source) importRust(file, path string, line int) {
	s.add(path, file, line)
	if i := strings.LastIndex(path, "::"); i >= 0 {
		s.rename(path[i+2:], path) // use std::process; process::exit(1)
	}
}

// rustCrate reads extern crate a as b.
func (s *source) rustCrate(file string, l *rustLexer) {
	if t := l.next(); t.text != "crate" {
		l.ahead = &t
		return
	}
	crate := l.next()
	if crate.kind != rustIdentifier {
		return
	}
	s.importRust(file, crate.text, crate.line)
	t := l.next()
	if t.text != "as" {
		l.ahead = &t
	} else if alias := l.next(); alias.kind == rustIdentifier {
		s.rename(alias.text, crate.text)
	}
}
