// Longest increasing subsequences in n log n, with reconstruction, and patience piles.
package main

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

func longest[T cmp.Ordered](xs []T) (out []T) {
	var tails, prev []int
	for i, x := range xs {
		at := sort.Search(len(tails), func(k int) bool { return xs[tails[k]] >= x })
		p := -1
		if at > 0 {
			p = tails[at-1]
		}
		prev = append(prev, p)
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	for i := tails[len(tails)-1]; i >= 0; i = prev[i] {
		out = append([]T{xs[i]}, out...)
	}
	return out
}

func piles(xs []int) (ps [][]int) {
	for _, x := range xs {
		at := sort.Search(len(ps), func(k int) bool { return ps[k][len(ps[k])-1] >= x })
		if at == len(ps) {
			ps = append(ps, nil)
		}
		ps[at] = append(ps[at], x)
	}
	return ps
}

func main() {
	xs := []int{0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}
	fmt.Println(longest(xs))
	for _, p := range piles(xs) {
		fmt.Println("  pile", p)
	}
	fmt.Println(longest(strings.Fields("the quick brown fox jumps over the lazy dog again zebra")))
	fmt.Println(longest([]float64{3.5, 2.5, 1.5}), longest([]int{}))
	big, state := make([]int, 100_000), uint64(88172645463325252)
	for i := range big {
		state ^= state << 7
		state ^= state >> 9
		big[i] = int(state % 1_000_000)
	}
	l := longest(big)
	fmt.Println(len(l), l[:5], l[len(l)-1])
}
