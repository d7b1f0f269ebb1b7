// Lazy sequences as functions: range over them, compose them, pull from them.
package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

func fibonacci() iter.Seq[int] {
	return func(yield func(int) bool) {
		for a, b := 0, 1; yield(a); a, b = b, a+b {
		}
	}
}

func filter[T any](s iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range s {
			if keep(v) && !yield(v) {
				return
			}
		}
	}
}

func take[T any](s iter.Seq[T], n int) iter.Seq[T] {
	return func(yield func(T) bool) {
		if n <= 0 {
			return
		}
		i := 0
		for v := range s {
			if i++; !yield(v) || i == n {
				return
			}
		}
	}
}

func zip[A, B any](a iter.Seq[A], b iter.Seq[B]) iter.Seq2[A, B] {
	return func(yield func(A, B) bool) {
		next, stop := iter.Pull(b)
		defer stop()
		for x := range a {
			y, ok := next()
			if !ok || !yield(x, y) {
				return
			}
		}
	}
}

func main() {
	even := func(n int) bool { return n%2 == 0 }
	fmt.Println(slices.Collect(take(filter(fibonacci(), even), 12)))
	for word, n := range zip(slices.Values([]string{"héllo", "你好", "🦀"}), filter(fibonacci(), func(n int) bool { return n > 10 })) {
		fmt.Println(word, n)
	}
	ages := map[string]int{"zoe": 31, "adam": 27, "mia": 45, "ben": 27}
	fmt.Println(slices.Sorted(maps.Keys(ages)), slices.Sorted(maps.Values(ages)))
	for i, c := range slices.Backward([]rune("abc")) {
		fmt.Print(i, string(c), " ")
	}
	for chunk := range slices.Chunk([]int{1, 2, 3, 4, 5, 6, 7}, 3) {
		fmt.Print(chunk)
	}
	fmt.Println()
	for i := range 3 {
		defer fmt.Println("deferred", i)
	}
}
