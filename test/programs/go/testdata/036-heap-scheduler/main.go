// A priority queue of tasks whose priorities change while they wait.
package main

import (
	"container/heap"
	"fmt"
)

type task struct {
	name            string
	priority, index int
	seq             int
}

type tasks []*task

func (t tasks) Len() int { return len(t) }
func (t tasks) Less(i, j int) bool {
	if t[i].priority != t[j].priority {
		return t[i].priority > t[j].priority
	}
	return t[i].seq < t[j].seq
}
func (t tasks) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *tasks) Push(x any) {
	x.(*task).index = len(*t)
	*t = append(*t, x.(*task))
}
func (t *tasks) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t, last.index = old[:len(old)-1], -1
	return last
}

func main() {
	q := &tasks{}
	byName := map[string]*task{}
	add := func(name string, priority int) {
		t := &task{name: name, priority: priority, seq: len(byName)}
		byName[name] = t
		heap.Push(q, t)
	}
	for i, n := range []string{"write", "read", "sleep", "cook", "run", "sing"} {
		add(n, i%3)
	}
	byName["sleep"].priority = 9
	heap.Fix(q, byName["sleep"].index)
	heap.Remove(q, byName["run"].index)
	for clock := 0; q.Len() > 0; clock++ {
		t := heap.Pop(q).(*task)
		fmt.Printf("t=%d %-6s priority %d\n", clock, t.name, t.priority)
		if clock == 1 {
			add("urgent", 100)
		}
		if t.name == "read" {
			t.name, t.priority = "read again", 0
			heap.Push(q, t)
		}
	}
}
