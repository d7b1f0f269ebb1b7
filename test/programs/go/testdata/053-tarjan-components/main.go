// Strongly connected components, and from them the 2-SAT problem.
package main

import (
	"fmt"
	"sort"
)

type graph [][]int

func (g graph) components() (comp []int, count int) {
	index, low := make([]int, len(g)), make([]int, len(g))
	comp = make([]int, len(g))
	for i := range comp {
		comp[i] = -1
	}
	var stack []int
	clock := 0
	var visit func(v int)
	visit = func(v int) {
		clock++
		index[v], low[v] = clock, clock
		stack = append(stack, v)
		for _, w := range g[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if comp[w] < 0 {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			for w := -1; w != v; {
				w = stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				comp[w] = count
			}
			count++
		}
	}
	for v := range g {
		if index[v] == 0 {
			visit(v)
		}
	}
	return comp, count
}

// satisfy solves clauses of two literals; +n and -n are variable n and its negation.
func satisfy(vars int, clauses [][2]int) ([]bool, bool) {
	lit := func(x int) int {
		if x < 0 {
			return 2*(-x-1) + 1
		}
		return 2 * (x - 1)
	}
	g := make(graph, 2*vars)
	for _, c := range clauses {
		a, b := lit(c[0]), lit(c[1])
		g[a^1] = append(g[a^1], b)
		g[b^1] = append(g[b^1], a)
	}
	comp, _ := g.components()
	out := make([]bool, vars)
	for v := range out {
		if comp[2*v] == comp[2*v+1] {
			return nil, false
		}
		out[v] = comp[2*v] < comp[2*v+1]
	}
	return out, true
}

func main() {
	g := graph{{1}, {2}, {0, 3}, {4}, {5, 7}, {3}, {5, 7}, {8}, {7}, {9, 6}}
	comp, n := g.components()
	groups := make([][]int, n)
	for v, c := range comp {
		groups[c] = append(groups[c], v)
	}
	sort.Slice(groups, func(i, j int) bool { return groups[i][0] < groups[j][0] })
	fmt.Println(n, groups)
	fmt.Println(satisfy(3, [][2]int{{1, 2}, {-1, 3}, {-2, -3}, {1, -3}}))
	fmt.Println(satisfy(2, [][2]int{{1, 2}, {1, -2}, {-1, 2}, {-1, -2}}))
}
