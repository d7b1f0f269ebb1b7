package language

import (
	"strings"
	"unicode/utf8"
)

// maxReason bounds [Diagnosis.Reason], in characters.
const maxReason = 300

// shorten cuts a line to what a [Diagnosis] may quote, never within a
// character, and makes invalid UTF-8 visible.
func shorten(line string) string {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	if utf8.RuneCountInString(line) <= maxReason {
		return line
	}
	runes := []rune(line)
	return string(runes[:maxReason-1]) + "…"
}

// firstLine is the first line of text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// lastLine is the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
