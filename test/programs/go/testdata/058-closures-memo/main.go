// Functions as values: counters, memoisation, currying, middleware.
package main

import (
	"fmt"
	"strings"
)

func counter() (next func() int, reset func()) {
	n := 0
	return func() int { n++; return n }, func() { n = 0 }
}

func memo[K comparable, V any](f func(self func(K) V, k K) V) (func(K) V, *int) {
	cache, calls := map[K]V{}, 0
	var self func(K) V
	self = func(k K) V {
		if v, ok := cache[k]; ok {
			return v
		}
		calls++
		v := f(self, k)
		cache[k] = v
		return v
	}
	return self, &calls
}

type handler func(string) string
type middleware func(handler) handler

func chain(h handler, ms ...middleware) handler {
	for i := len(ms) - 1; i >= 0; i-- {
		h = ms[i](h)
	}
	return h
}

func wrap(before, after string) middleware {
	return func(next handler) handler {
		return func(s string) string { return before + next(s) + after }
	}
}

func compose[A, B, C any](f func(A) B, g func(B) C) func(A) C {
	return func(a A) C { return g(f(a)) }
}

func main() {
	next, reset := counter()
	next()
	next()
	fmt.Print(next(), " ")
	reset()
	fmt.Println(next())

	fib, calls := memo(func(self func(int) int, n int) int {
		if n < 2 {
			return n
		}
		return self(n-1) + self(n-2)
	})
	fmt.Println(fib(90), "after", *calls, "calls")
	type pair struct{ r, c int }
	paths, calls := memo(func(self func(pair) int, p pair) int {
		if p.r == 0 || p.c == 0 {
			return 1
		}
		return self(pair{p.r - 1, p.c}) + self(pair{p.r, p.c - 1})
	})
	fmt.Println(paths(pair{16, 16}), "after", *calls, "calls")
	fmt.Println(chain(strings.ToUpper, wrap("<a>", "</a>"), wrap("[", "]"))("héllo 🦀"))
	length := compose(strings.Fields, func(f []string) int { return len(f) })
	fmt.Println(length("one two  three"))
	var funcs []func() int
	for i := 0; i < 4; i++ {
		i := i
		funcs = append(funcs, func() int { i *= 10; return i })
	}
	for _, f := range funcs {
		fmt.Print(f(), " ", f(), "; ")
	}
	fmt.Println()
}
