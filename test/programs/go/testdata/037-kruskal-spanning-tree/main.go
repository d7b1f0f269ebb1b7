// A minimum spanning tree with union-find (path halving, union by size).
package main

import (
	"fmt"
	"sort"
)

type sets struct{ parent, size []int }

func newSets(n int) *sets {
	s := &sets{make([]int, n), make([]int, n)}
	for i := range s.parent {
		s.parent[i], s.size[i] = i, 1
	}
	return s
}

func (s *sets) find(x int) int {
	for s.parent[x] != x {
		s.parent[x] = s.parent[s.parent[x]]
		x = s.parent[x]
	}
	return x
}

func (s *sets) union(a, b int) bool {
	a, b = s.find(a), s.find(b)
	if a == b {
		return false
	}
	if s.size[a] < s.size[b] {
		a, b = b, a
	}
	s.parent[b] = a
	s.size[a] += s.size[b]
	return true
}

func main() {
	type edge struct{ u, v, w int }
	var edges []edge
	const n = 200
	for u := 0; u < n; u++ {
		for k := 1; k <= 5; k++ {
			v := (u*k*7 + 13*k) % n
			if u != v {
				edges = append(edges, edge{u, v, (u*31+v*17+k*k)%101 + 1})
			}
		}
	}
	sort.SliceStable(edges, func(i, j int) bool { return edges[i].w < edges[j].w })
	s := newSets(n)
	total, used := 0, 0
	histogram := [11]int{}
	for _, e := range edges {
		if s.union(e.u, e.v) {
			total += e.w
			used++
			histogram[e.w/10]++
		}
	}
	fmt.Printf("%d edges offered, %d used, total weight %d\n", len(edges), used, total)
	fmt.Println("component of node 0 holds", s.size[s.find(0)], "nodes")
	for i, c := range histogram {
		fmt.Printf("weight %2d..%2d: %d\n", i*10, i*10+9, c)
	}
}
