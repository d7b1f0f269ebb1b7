// Counts inversions with a Fenwick tree and checks against merge counting.
package main

import (
	"fmt"
	"sort"
)

type fenwick []int

func (f fenwick) add(i, d int) {
	for i++; i < len(f); i += i & -i {
		f[i] += d
	}
}

func (f fenwick) sum(i int) (s int) {
	for ; i > 0; i -= i & -i {
		s += f[i]
	}
	return s
}

func inversions(xs []int) (count int) {
	order := append([]int(nil), xs...)
	sort.Ints(order)
	f := make(fenwick, len(xs)+1)
	for i, x := range xs {
		rank := sort.SearchInts(order, x+1)
		count += i - f.sum(rank)
		f.add(rank-1, 1)
	}
	return count
}

func merge(xs []int) ([]int, int) {
	if len(xs) < 2 {
		return xs, 0
	}
	a, x := merge(xs[:len(xs)/2])
	b, y := merge(xs[len(xs)/2:])
	out, count := make([]int, 0, len(xs)), x+y
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			count += len(a)
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out, count
}

func main() {
	for _, n := range []int{5, 100, 20_000} {
		xs := make([]int, n)
		state := uint32(n)
		for i := range xs {
			state = state*1664525 + 1013904223
			xs[i] = int(state>>16) % n
		}
		_, slow := merge(append([]int(nil), xs...))
		fmt.Printf("n=%d inversions=%d agree=%v\n", n, inversions(xs), slow == inversions(xs))
	}
	fmt.Println(inversions([]int{5, 4, 3, 2, 1}), inversions([]int{1, 1, 1}), inversions(nil))
}
