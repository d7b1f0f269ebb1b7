// A generic set and the usual higher-order functions over slices.
package main

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

type set[T cmp.Ordered] map[T]struct{}

func of[T cmp.Ordered](items ...T) set[T] {
	s := set[T]{}
	for _, i := range items {
		s[i] = struct{}{}
	}
	return s
}

func (s set[T]) has(v T) bool { _, ok := s[v]; return ok }

func (s set[T]) union(o set[T]) set[T] {
	out := set[T]{}
	for _, from := range []set[T]{s, o} {
		for v := range from {
			out[v] = struct{}{}
		}
	}
	return out
}

func (s set[T]) filter(keep func(T) bool) set[T] {
	out := set[T]{}
	for v := range s {
		if keep(v) {
			out[v] = struct{}{}
		}
	}
	return out
}

func (s set[T]) sorted() []T {
	out := make([]T, 0, len(s))
	for v := range s {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (s set[T]) String() string { return strings.Trim(fmt.Sprint(s.sorted()), "[]") }

type number interface {
	~int | ~int64 | ~float64
}

func mapTo[A, B any](xs []A, f func(A) B) []B {
	out := make([]B, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}

func reduce[A, B any](xs []A, acc B, f func(B, A) B) B {
	for _, x := range xs {
		acc = f(acc, x)
	}
	return acc
}

func sum[T number](xs ...T) T { return reduce(xs, 0, func(a, b T) T { return a + b }) }

type cents int

func main() {
	a, b := of(1, 2, 3, 4, 5), of(4, 5, 6, 7)
	fmt.Printf("union {%v} both {%v} only {%v}\n", a.union(b), a.filter(b.has), a.filter(func(v int) bool { return !b.has(v) }))
	fmt.Println(of("你好", "héllo", "🦀", "abc"), of(2.5, -1).has(2.5))
	fmt.Println(sum(1, 2, 3), sum(0.5, 0.25), sum(cents(250), cents(199)))
	words := strings.Fields("the quick brown fox jumps")
	fmt.Println(mapTo(words, func(s string) int { return len(s) }), reduce(words, "", func(acc, w string) string { return acc + w[:1] }))
}
