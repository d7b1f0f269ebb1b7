// A generic segment tree: range queries with point updates for any monoid.
package main

import "fmt"

type segtree[T any] struct {
	n       int
	nodes   []T
	zero    T
	combine func(a, b T) T
}

func build[T any](xs []T, zero T, combine func(a, b T) T) *segtree[T] {
	t := &segtree[T]{n: len(xs), nodes: make([]T, 2*len(xs)), zero: zero, combine: combine}
	copy(t.nodes[t.n:], xs)
	for i := t.n - 1; i > 0; i-- {
		t.nodes[i] = combine(t.nodes[2*i], t.nodes[2*i+1])
	}
	return t
}

func (t *segtree[T]) set(i int, v T) {
	i += t.n
	t.nodes[i] = v
	for i /= 2; i > 0; i /= 2 {
		t.nodes[i] = t.combine(t.nodes[2*i], t.nodes[2*i+1])
	}
}

// query combines the half-open range [from, to), keeping the order.
func (t *segtree[T]) query(from, to int) T {
	left, right := t.zero, t.zero
	for l, r := from+t.n, to+t.n; l < r; l, r = l/2, r/2 {
		if l%2 == 1 {
			left = t.combine(left, t.nodes[l])
			l++
		}
		if r%2 == 1 {
			r--
			right = t.combine(t.nodes[r], right)
		}
	}
	return t.combine(left, right)
}

func main() {
	xs := make([]int, 1000)
	for i := range xs {
		xs[i] = (i*7919 + 104729) % 1009
	}
	sum := build(xs, 0, func(a, b int) int { return a + b })
	low := build(xs, 1<<62, func(a, b int) int { return min(a, b) })
	for _, q := range [][2]int{{0, 1000}, {10, 20}, {500, 501}, {123, 789}} {
		fmt.Println(q, "sum", sum.query(q[0], q[1]), "min", low.query(q[0], q[1]))
	}
	sum.set(15, 1_000_000)
	low.set(15, -5)
	fmt.Println("after update", sum.query(10, 20), low.query(0, 1000), low.query(16, 20))

	letters := build([]string{"h", "é", "l", "l", "o", "你", "好", "🦀"}, "", func(a, b string) string { return a + b })
	fmt.Println(letters.query(0, 5), letters.query(5, 8), letters.query(3, 6))
}
