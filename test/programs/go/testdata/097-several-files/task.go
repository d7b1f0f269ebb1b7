package main

import (
	"fmt"
	"strings"
)

type task struct {
	title, tag, person string
	priority           int
	done               bool
}

func parseTask(line string) (t task, err error) {
	switch {
	case strings.HasPrefix(line, "[x] "):
		t.done = true
	case !strings.HasPrefix(line, "[ ] "):
		return t, fmt.Errorf("no box in %q", line)
	}
	t.priority = 9
	var words []string
	for _, w := range strings.Fields(line[4:]) {
		switch w[0] {
		case '#':
			t.tag = w[1:]
		case '@':
			t.person = w[1:]
		case '!':
			t.priority = int(w[1] - '0')
		default:
			words = append(words, w)
		}
	}
	t.title = strings.Join(words, " ")
	return t, nil
}

func mostUrgent(ts []task) (best task) {
	best.priority = 10
	for _, t := range ts {
		if !t.done && t.priority < best.priority {
			best = t
		}
	}
	return best
}
