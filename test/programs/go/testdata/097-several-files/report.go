package main

import (
	"fmt"
	"io"
	"sort"
)

type section struct {
	key   string
	tasks []task
}

func group(ts []task, key func(task) string) (out []section) {
	at := map[string]int{}
	for _, t := range ts {
		k := key(t)
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, section{key: k})
		}
		out[at[k]].tasks = append(out[at[k]].tasks, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

func report(w io.Writer, title string, sections []section) {
	fmt.Fprintln(w, "==", title)
	for _, s := range sections {
		open := 0
		for _, t := range s.tasks {
			if !t.done {
				open++
			}
		}
		fmt.Fprintf(w, "%-6s %d of %d open\n", s.key+":", open, len(s.tasks))
	}
}
