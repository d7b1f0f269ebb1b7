// A JSON parser written by hand: positions in errors, escapes, a printer.
package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

type parser struct {
	s string
	i int
}

func (p *parser) fail(format string, args ...any) {
	panic(fmt.Errorf("offset %d: %s", p.i, fmt.Sprintf(format, args...)))
}

func (p *parser) peek() byte {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
	if p.i == len(p.s) {
		p.fail("unexpected end")
	}
	return p.s[p.i]
}

func (p *parser) expect(c byte) {
	if got := p.peek(); got != c {
		p.fail("want %q, found %q", c, got)
	}
	p.i++
}

func (p *parser) value() any {
	switch c := p.peek(); {
	case c == '{':
		m := map[string]any{}
		p.list('{', '}', func() {
			p.peek()
			k := p.str()
			p.expect(':')
			m[k] = p.value()
		})
		return m
	case c == '[':
		a := []any{}
		p.list('[', ']', func() { a = append(a, p.value()) })
		return a
	case c == '"':
		return p.str()
	}
	for word, v := range map[string]any{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(p.s[p.i:], word) {
			p.i += len(word)
			return v
		}
	}
	start := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.eE0123456789", p.s[p.i]) >= 0 {
		p.i++
	}
	f, err := strconv.ParseFloat(p.s[start:p.i], 64)
	if err != nil {
		p.fail("bad value %.6q", p.s[start:])
	}
	return f
}

func (p *parser) list(open, end byte, item func()) {
	p.expect(open)
	for first := true; p.peek() != end; first = false {
		if !first {
			p.expect(',')
		}
		item()
	}
	p.i++
}

func (p *parser) str() string {
	p.expect('"')
	var b strings.Builder
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '"':
			p.i++
			return b.String()
		case '\\':
			p.i++
			if p.s[p.i] == 'u' {
				b.WriteRune(p.unicode())
			} else {
				b.WriteByte(strings.NewReplacer("n", "\n", "t", "\t").Replace(p.s[p.i : p.i+1])[0])
			}
		default:
			b.WriteByte(c)
		}
	}
	p.fail("unterminated string")
	return ""
}

func (p *parser) unicode() rune {
	hex := func() rune { n, _ := strconv.ParseUint(p.s[p.i+1:p.i+5], 16, 16); p.i += 4; return rune(n) }
	r := hex()
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.s[p.i+1:], "\\u") {
		p.i += 2
		return utf16.DecodeRune(r, hex())
	}
	return r
}

func show(v any, indent string) string {
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		out := "{\n"
		for _, k := range keys {
			out += indent + "  " + k + ": " + show(v[k], indent+"  ") + "\n"
		}
		return out + indent + "}"
	case string:
		return strconv.Quote(v)
	default:
		return fmt.Sprint(v)
	}
}

func parse(s string) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return (&parser{s: s}).value(), nil
}

func main() {
	for _, s := range []string{
		`{"name": "h\u00e9llo", "list": [1, 2.5, -3e2, true, null], "deep": {"你好": {"crab": "\ud83e\udd80\n"}}, "empty": {}}`,
		`[1, 2`, `{"a" 1}`, `[tru]`, `"open`,
	} {
		v, err := parse(s)
		fmt.Println(show(v, ""), err)
	}
}
