// The cheapest order of matrix products, and optimal search trees.
package main

import (
	"fmt"
	"math"
)

func chain(dims []int) (cost int, text string) {
	n := len(dims) - 1
	best, cut := make([][]int, n), make([][]int, n)
	for i := range best {
		best[i], cut[i] = make([]int, n), make([]int, n)
	}
	for span := 1; span < n; span++ {
		for i := 0; i+span < n; i++ {
			j := i + span
			best[i][j] = math.MaxInt
			for k := i; k < j; k++ {
				if c := best[i][k] + best[k+1][j] + dims[i]*dims[k+1]*dims[j+1]; c < best[i][j] {
					best[i][j], cut[i][j] = c, k
				}
			}
		}
	}
	var show func(i, j int) string
	show = func(i, j int) string {
		if i == j {
			return string(rune('A' + i))
		}
		return "(" + show(i, cut[i][j]) + show(cut[i][j]+1, j) + ")"
	}
	return best[0][n-1], show(0, n-1)
}

func searchTree(keys []string, freq []int) (int, string) {
	type choice struct{ cost, root int }
	memo := map[[2]int]choice{}
	var solve func(i, j int) choice
	solve = func(i, j int) choice {
		if i >= j {
			return choice{0, -1}
		}
		if c, ok := memo[[2]int{i, j}]; ok {
			return c
		}
		total := 0
		for _, f := range freq[i:j] {
			total += f
		}
		best := choice{math.MaxInt, -1}
		for r := i; r < j; r++ {
			if c := solve(i, r).cost + solve(r+1, j).cost + total; c < best.cost {
				best = choice{c, r}
			}
		}
		memo[[2]int{i, j}] = best
		return best
	}
	var show func(i, j int) string
	show = func(i, j int) string {
		c := solve(i, j)
		if c.root < 0 {
			return "·"
		}
		return "[" + show(i, c.root) + " " + keys[c.root] + " " + show(c.root+1, j) + "]"
	}
	return solve(0, len(keys)).cost, show(0, len(keys))
}

func main() {
	fmt.Println(chain([]int{10, 30, 5, 60}))
	fmt.Println(chain([]int{30, 35, 15, 5, 10, 20, 25}))
	fmt.Println(chain([]int{40, 20, 30, 10, 30, 12, 8, 64, 3, 100}))
	fmt.Println(searchTree([]string{"a", "of", "the", "to", "zoo"}, []int{22, 18, 20, 5, 1}))
}
