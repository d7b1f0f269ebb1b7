// Wraps and justifies a text in three alignments.
package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func wrap(text string, width int) (lines [][]string) {
	var cur []string
	used := 0
	for _, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		if used+len(cur)+n > width && len(cur) > 0 {
			lines = append(lines, cur)
			cur, used = nil, 0
		}
		cur = append(cur, w)
		used += n
	}
	return append(lines, cur)
}

func justify(words []string, width int, last bool) string {
	if last || len(words) == 1 {
		return strings.Join(words, " ")
	}
	gaps, space := len(words)-1, width
	for _, w := range words {
		space -= utf8.RuneCountInString(w)
	}
	var b strings.Builder
	for i, w := range words {
		b.WriteString(w)
		if i < gaps {
			n := space / gaps
			if i < space%gaps {
				n++
			}
			b.WriteString(strings.Repeat(" ", n))
		}
	}
	return b.String()
}

func main() {
	text := `Typography is the craft of endowing human language with a durable
	visual form. Even a plain terminal, with its cells of equal width, rewards a
	little care: naïve wrapping leaves rivers of space, héllo, while good wrapping
	does not — and nobody notices. Incomprehensibilities happen.`
	for _, width := range []int{28, 44} {
		lines := wrap(text, width)
		for i, l := range lines {
			fmt.Printf("|%-*s|\n", width, justify(l, width, i == len(lines)-1))
		}
		for _, l := range lines[:3] {
			s := strings.Join(l, " ")
			fmt.Printf("|%*s|\n", width, s)
			pad := (width - utf8.RuneCountInString(s)) / 2
			fmt.Printf("|%-*s|\n", width, strings.Repeat(" ", pad)+s)
		}
	}
}
