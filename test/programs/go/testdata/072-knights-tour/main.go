// A knight's tour by Warnsdorff's rule with backtracking behind it.
package main

import "fmt"

type board struct {
	n     int
	step  []int
	nodes int
}

var jumps = [8][2]int{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}

func (b *board) moves(at int) (out []int) {
	for _, j := range jumps {
		r, c := at/b.n+j[0], at%b.n+j[1]
		if r >= 0 && r < b.n && c >= 0 && c < b.n && b.step[r*b.n+c] == 0 {
			out = append(out, r*b.n+c)
		}
	}
	return out
}

func (b *board) walk(at, k int) bool {
	b.nodes++
	b.step[at] = k
	if k == b.n*b.n {
		return true
	}
	next := b.moves(at)
	for len(next) > 0 {
		best := 0
		for i := range next {
			if len(b.moves(next[i])) < len(b.moves(next[best])) {
				best = i
			}
		}
		if b.walk(next[best], k+1) {
			return true
		}
		next = append(next[:best], next[best+1:]...)
	}
	b.step[at] = 0
	return false
}

func main() {
	for _, n := range []int{3, 5, 8, 12} {
		b := &board{n: n, step: make([]int, n*n)}
		found := b.walk(0, 1)
		fmt.Printf("%dx%d tour found: %v after %d nodes\n", n, n, found, b.nodes)
		for i := 0; found && i < n; i++ {
			for _, k := range b.step[i*n : i*n+n] {
				fmt.Printf("%4d", k)
			}
			fmt.Println()
		}
	}
}
