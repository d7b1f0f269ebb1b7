// Turns a small dialect of Markdown on standard input into HTML.
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
)

var inline = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile("`([^`]+)`"), "<code>$1</code>"},
	{regexp.MustCompile(`\*\*([^*]+)\*\*`), "<strong>$1</strong>"},
	{regexp.MustCompile(`\*([^*]+)\*`), "<em>$1</em>"},
	{regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`), `<a href="$2">$1</a>`},
}

func span(s string) string {
	s = html.EscapeString(s)
	for _, r := range inline {
		s = r.re.ReplaceAllString(s, r.to)
	}
	return s
}

type writer struct{ open string }

func (w *writer) block(tag string) {
	if w.open == tag {
		return
	}
	if w.open != "" {
		fmt.Printf("</%s>\n", w.open)
	}
	if tag != "" {
		fmt.Printf("<%s>\n", tag)
	}
	w.open = tag
}

func main() {
	heading := regexp.MustCompile(`^(#{1,6}) (.*)$`)
	numbered := regexp.MustCompile(`^\d+\. (.*)$`)
	w := &writer{}
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, "```") {
			if w.open == "pre" {
				w.block("")
			} else {
				w.block("pre")
			}
			continue
		}
		if w.open == "pre" {
			fmt.Println(html.EscapeString(line))
			continue
		}
		switch h, n := heading.FindStringSubmatch(line), numbered.FindStringSubmatch(line); {
		case h != nil:
			w.block("")
			fmt.Printf("<h%d>%s</h%[1]d>\n", len(h[1]), span(h[2]))
		case n != nil:
			w.block("ol")
			fmt.Printf("  <li>%s</li>\n", span(n[1]))
		case strings.HasPrefix(line, "- "):
			w.block("ul")
			fmt.Printf("  <li>%s</li>\n", span(line[2:]))
		case strings.HasPrefix(line, "> "):
			w.block("blockquote")
			fmt.Println(span(line[2:]))
		case strings.TrimSpace(line) == "":
			w.block("")
		default:
			w.block("p")
			fmt.Println(span(line))
		}
	}
	w.block("")
}
