// Shortest routes in a small road network, with the path reconstructed.
package main

import (
	"container/heap"
	"fmt"
	"strings"
)

type edge struct {
	to   string
	cost int
}

type item struct {
	node string
	dist int
}

type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].dist < q[j].dist }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

func shortest(g map[string][]edge, from, to string) (int, []string) {
	dist := map[string]int{from: 0}
	prev := map[string]string{}
	q := &queue{{from, 0}}
	for q.Len() > 0 {
		cur := heap.Pop(q).(item)
		if cur.dist > dist[cur.node] {
			continue
		}
		for _, e := range g[cur.node] {
			d := cur.dist + e.cost
			if old, seen := dist[e.to]; !seen || d < old {
				dist[e.to], prev[e.to] = d, cur.node
				heap.Push(q, item{e.to, d})
			}
		}
	}
	path := []string{to}
	for path[0] != from {
		path = append([]string{prev[path[0]]}, path...)
	}
	return dist[to], path
}

func main() {
	g := map[string][]edge{}
	for _, r := range []struct {
		a, b string
		km   int
	}{
		{"Bern", "Zürich", 125}, {"Bern", "Basel", 100}, {"Basel", "Zürich", 85},
		{"Bern", "Genève", 160}, {"Zürich", "Chur", 120}, {"Genève", "Sion", 155},
		{"Sion", "Chur", 260}, {"Bern", "Luzern", 110}, {"Luzern", "Zürich", 52},
	} {
		g[r.a] = append(g[r.a], edge{r.b, r.km})
		g[r.b] = append(g[r.b], edge{r.a, r.km})
	}
	for _, to := range []string{"Chur", "Zürich", "Luzern", "Sion"} {
		d, path := shortest(g, "Genève", to)
		fmt.Printf("%-7s %4d km  %s\n", to, d, strings.Join(path, " → "))
	}
}
