// Dinic's maximum flow: a water network, its minimum cut, a bipartite matching.
package main

import "fmt"

type edge struct{ to, cap, rev int }

type network struct {
	g           [][]edge
	level, next []int
}

func newNetwork(n int) *network { return &network{g: make([][]edge, n)} }

func (f *network) add(u, v, c int) {
	f.g[u] = append(f.g[u], edge{v, c, len(f.g[v])})
	f.g[v] = append(f.g[v], edge{u, 0, len(f.g[u]) - 1})
}

func (f *network) layers(s int) {
	f.level = make([]int, len(f.g))
	f.level[s] = 1
	for queue := []int{s}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.g[queue[0]] {
			if e.cap > 0 && f.level[e.to] == 0 {
				f.level[e.to] = f.level[queue[0]] + 1
				queue = append(queue, e.to)
			}
		}
	}
}

func (f *network) push(u, t, limit int) int {
	if u == t {
		return limit
	}
	for ; f.next[u] < len(f.g[u]); f.next[u]++ {
		e := &f.g[u][f.next[u]]
		if e.cap > 0 && f.level[e.to] == f.level[u]+1 {
			if d := f.push(e.to, t, min(limit, e.cap)); d > 0 {
				e.cap -= d
				f.g[e.to][e.rev].cap += d
				return d
			}
		}
	}
	return 0
}

func (f *network) max(s, t int) (total int) {
	for f.layers(s); f.level[t] > 0; f.layers(s) {
		f.next = make([]int, len(f.g))
		for d := f.push(s, t, 1<<30); d > 0; d = f.push(s, t, 1<<30) {
			total += d
		}
	}
	return total
}

func main() {
	pipes := [][3]int{{0, 1, 16}, {0, 2, 13}, {1, 2, 10}, {2, 1, 4}, {1, 3, 12}, {3, 2, 9}, {2, 4, 14}, {4, 3, 7}, {3, 5, 20}, {4, 5, 4}}
	f := newNetwork(6)
	for _, p := range pipes {
		f.add(p[0], p[1], p[2])
	}
	fmt.Println("flow:", f.max(0, 5))
	for _, p := range pipes {
		if f.level[p[0]] > 0 && f.level[p[1]] == 0 {
			fmt.Println("  cut", p)
		}
	}

	people := []string{"Ann", "Bo", "Cy", "Di"}
	tasks := []string{"cook", "wash", "sing", "sail"}
	can := [][]int{{0, 1}, {0}, {1, 2}, {2, 3}}
	m := newNetwork(10)
	for i, ts := range can {
		m.add(8, i, 1)
		m.add(4+i, 9, 1)
		for _, t := range ts {
			m.add(i, 4+t, 1)
		}
	}
	fmt.Println("matched:", m.max(8, 9))
	for i := range people {
		for _, e := range m.g[i] {
			if e.to >= 4 && e.to < 8 && e.cap == 0 {
				fmt.Println(" ", people[i], "→", tasks[e.to-4])
			}
		}
	}
}
