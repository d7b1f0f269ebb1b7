package doctest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Line           int // of the fence
	Language, Text string
	Attributes     map[string]string
}

var (
	fence     = regexp.MustCompile("^ *```([a-z]*) *(.*)$")
	attribute = regexp.MustCompile(`^(no-test )?(\w+)=(?:"([^"]+)"|([^\s"]+)) *`)
)

// parse cuts a page into its fenced blocks.
func (s Suite) parse(page string) (blocks []Block, err error) {
	open := false
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && !open:
			above := strings.TrimSpace(strings.Join(lines[:i], "\n"))
			b := Block{Line: i + 1, Language: m[1]}
			if b.Attributes, err = s.attributes(m[1], m[2], above[strings.LastIndex(above, "\n\n")+1:]); err != nil {
				return nil, fmt.Errorf("line %d: %w", b.Line, err)
			}
			blocks = append(blocks, b)
			open = true
		case m != nil:
			open = false
		case open:
			blocks[len(blocks)-1].Text += line + "\n"
		}
	}
	if open {
		return nil, errors.New("the last block is not closed")
	}
	return blocks, nil
}

// attributes are what stands behind the language of a block; above is the
// paragraph before it.
func (s Suite) attributes(language, info, above string) (map[string]string, error) {
	known := []string{"title"}
	if language == "console" {
		known = append([]string{"needs", "no-test reason"}, s.Attributes...)
	}
	found := map[string]string{}
	for info != "" {
		m := attribute.FindStringSubmatch(info)
		if m == nil || !slices.Contains(known, m[1]+m[2]) {
			return nil, fmt.Errorf("%s is none of the attributes that this block can have: %q", info, known)
		}
		found[m[2]] = m[3] + m[4]
		info = info[len(m[0]):]
	}
	for _, need := range needs(found) {
		if s.Needs[need] == nil {
			return nil, fmt.Errorf("nobody knows when there is %q, which it needs", need)
		}
	}
	if title := found["title"]; !strings.Contains(above, title) {
		return nil, fmt.Errorf("the text above does not tell the reader that this is %s", title)
	}
	return found, nil
}

func needs(attributes map[string]string) []string {
	return strings.FieldsFunc(attributes["needs"], func(r rune) bool { return r == ',' })
}

// command is one of a session, with what the page says that it prints.
type command struct{ text, output string }

func (b Block) commands() (list []command, err error) {
	for line := range strings.Lines(b.Text) {
		text, isCommand := strings.CutPrefix(line, "$ ")
		last := len(list) - 1
		switch {
		case last >= 0 && !isComplete(list[last].text):
			list[last].text += line
		case isCommand:
			list = append(list, command{text: text})
		case last < 0:
			return nil, errors.New("the session does not begin with a command")
		default:
			list[last].output += line
		}
	}
	return list, nil
}

var hereDocument = regexp.MustCompile(`<<-?'?(\w+)'?`)

func isComplete(text string) bool {
	if m := hereDocument.FindStringSubmatch(text); m != nil {
		return strings.HasSuffix(text, "\n"+m[1]+"\n")
	}
	return strings.Count(text, "'")%2 == 0 && !strings.HasSuffix(text, "\\\n")
}
