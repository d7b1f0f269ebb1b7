// Package algo shows the collections at work.
package algo

import (
	"fmt"
	"strconv"
	"strings"

	"example.test/collections/coll"
)

func Balanced(s string) bool {
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	var st coll.Stack[rune]
	for _, r := range s {
		if strings.ContainsRune("([{", r) {
			st.Push(r)
		} else if open, ok := pairs[r]; ok {
			if got, _ := st.Pop(); got != open {
				return false
			}
		}
	}
	return st.Len() == 0
}

func Postfix(expr string) (float64, error) {
	var st coll.Stack[float64]
	for _, f := range strings.Fields(expr) {
		if n, err := strconv.ParseFloat(f, 64); err == nil {
			st.Push(n)
			continue
		}
		b, _ := st.Pop()
		a, ok := st.Pop()
		if !ok {
			return 0, fmt.Errorf("%q needs two operands", f)
		}
		switch f {
		case "+":
			a += b
		case "-":
			a -= b
		case "*":
			a *= b
		case "/":
			a /= b
		}
		st.Push(a)
	}
	v, _ := st.Pop()
	return v, nil
}

func GroupBy[T any, K comparable](xs []T, key func(T) K) *coll.OrderedMap[K, []T] {
	m := coll.NewOrderedMap[K, []T]()
	for _, x := range xs {
		m.Update(key(x), func(g []T) []T { return append(g, x) })
	}
	return m
}
