// Generic collections from one package, used by another and by main.
package main

import (
	"fmt"
	"strings"

	"example.test/collections/algo"
	"example.test/collections/coll"
)

func main() {
	var s coll.Stack[rune]
	for _, r := range "héllo 🦀" {
		s.Push(r)
	}
	for r, ok := s.Pop(); ok; r, ok = s.Pop() {
		fmt.Print(string(r))
	}
	fmt.Println()

	q := coll.NewRing[int](3)
	for i := 1; i <= 5; i++ {
		if dropped, full := q.Put(i * i); full {
			fmt.Println("dropped", dropped)
		}
	}
	fmt.Println(q.Items())

	m := coll.NewOrderedMap[string, int]()
	for _, w := range strings.Fields("to be or not to be that is the question") {
		m.Update(w, func(n int) int { return n + 1 })
	}
	m.Each(func(k string, n int) { fmt.Print(k, "=", n, " ") })
	fmt.Println(m.Len())

	for _, text := range []string{"{[()()]}", "([)]", "((", "}", "a(b)c"} {
		fmt.Printf("%-8s %v\n", text, algo.Balanced(text))
	}
	v, err := algo.Postfix("3 4 + 2 * 7 / 1 -")
	fmt.Println(v, err)
	_, err = algo.Postfix("1 +")
	fmt.Println(err)
	groups := algo.GroupBy([]string{"apple", "fig", "pear", "kiwi", "plum", "nut"}, func(s string) int { return len(s) })
	groups.Each(func(k int, v []string) { fmt.Println(k, v) })
}
