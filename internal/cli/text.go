package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes a string that a program may have chosen safe for a terminal:
// control characters, marks that reorder text, and bytes that are no UTF-8 are
// written as escapes.
func printable(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafeRune(r) && r != utf8.RuneError:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafeRune tells control and format characters, which are what terminals act
// on. A joiner inside an emoji is a format character too, and loses its effect.
func unsafeRune(r rune) bool {
	return r == utf8.RuneError || unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029'
}

// secondsText writes a time as a person would say it: 480 µs, 21 ms, 1.25 s.
func secondsText(s float64) string {
	switch {
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 0.1:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}

// paint writes colours, or nothing where they are off.
type paint struct{ on bool }

const (
	styleReset  = "\x1b[0m"
	styleBold   = "\x1b[1m"
	styleDim    = "\x1b[2m"
	styleRed    = "\x1b[31m"
	styleGreen  = "\x1b[32m"
	styleYellow = "\x1b[33m"
)

func (p paint) text(style, s string) string {
	if !p.on {
		return s
	}
	return style + s + styleReset
}

// newPaint decides on colours: always, never, or (auto) on a terminal that can
// show them and where NO_COLOR does not ask for none (no-color.org).
func newPaint(when string, terminal bool, environ []string) paint {
	if when != "auto" {
		return paint{on: when == "always"}
	}
	noColor, _ := inherited("NO_COLOR", environ)
	return paint{on: terminal && noColor == "" && !dumbTerminal(environ)}
}

func dumbTerminal(environ []string) bool {
	term, _ := inherited("TERM", environ)
	return term == "dumb"
}
