// A discrete-event simulation of a bank with several tellers.
package main

import (
	"container/heap"
	"fmt"
)

type event struct {
	at, customer int
	leaving      bool
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	if a[i].leaving != a[j].leaving {
		return a[i].leaving
	}
	return a[i].customer < a[j].customer
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	e := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return e
}

type dice uint32

func (d *dice) roll(n int) int {
	*d = *d*1664525 + 1013904223
	return int(*d>>8)%n + 1
}

func simulate(tellers, customers int) {
	rnd := dice(2024)
	a := &agenda{}
	service := make([]int, customers)
	arrived := make([]int, customers)
	clock := 0
	for c := range service {
		clock += rnd.roll(4)
		arrived[c], service[c] = clock, 3+rnd.roll(9)
		heap.Push(a, event{at: clock, customer: c})
	}
	var line []int
	free, waited, longest, worst := tellers, 0, 0, 0
	for a.Len() > 0 {
		e := heap.Pop(a).(event)
		clock = e.at
		if e.leaving {
			free++
		} else {
			line = append(line, e.customer)
		}
		for free > 0 && len(line) > 0 {
			c := line[0]
			line = line[1:]
			free--
			waited += clock - arrived[c]
			worst = max(worst, clock-arrived[c])
			heap.Push(a, event{clock + service[c], c, true})
		}
		longest = max(longest, len(line))
	}
	fmt.Printf("%d tellers: closed at %d, average wait %.2f, worst %d, longest line %d\n",
		tellers, clock, float64(waited)/float64(customers), worst, longest)
}

func main() {
	for tellers := 1; tellers <= 5; tellers++ {
		simulate(tellers, 1000)
	}
}
