// A trie over runes that completes prefixes in alphabetical order.
package main

import (
	"fmt"
	"sort"
)

type node struct {
	next map[rune]*node
	word bool
}

func (n *node) insert(s string) {
	for _, r := range s {
		if n.next == nil {
			n.next = map[rune]*node{}
		}
		if n.next[r] == nil {
			n.next[r] = &node{}
		}
		n = n.next[r]
	}
	n.word = true
}

func (n *node) walk(prefix string, visit func(string)) {
	if n.word {
		visit(prefix)
	}
	keys := make([]rune, 0, len(n.next))
	for r := range n.next {
		keys = append(keys, r)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	for _, r := range keys {
		n.next[r].walk(prefix+string(r), visit)
	}
}

func (n *node) complete(prefix string) (out []string) {
	for _, r := range prefix {
		if n = n.next[r]; n == nil {
			return nil
		}
	}
	n.walk(prefix, func(s string) { out = append(out, s) })
	return out
}

func (n *node) size() int {
	total := 1
	for _, c := range n.next {
		total += c.size()
	}
	return total
}

func main() {
	root := &node{}
	for _, w := range []string{"car", "card", "care", "cart", "cat", "dog", "do", "你好", "你们", "你", "été", "étude", "🦀", "🦀🦞"} {
		root.insert(w)
	}
	for _, p := range []string{"car", "do", "你", "ét", "🦀", "x", ""} {
		fmt.Printf("%q: %q\n", p, root.complete(p))
	}
	fmt.Println("nodes:", root.size())
}
