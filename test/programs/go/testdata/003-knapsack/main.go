// The 0/1 knapsack by dynamic programming, and which items were taken.
package main

import "fmt"

type item struct {
	name          string
	weight, value int
}

func pack(items []item, capacity int) (int, []item) {
	best := make([][]int, len(items)+1)
	for i := range best {
		best[i] = make([]int, capacity+1)
	}
	for i, it := range items {
		for w := 0; w <= capacity; w++ {
			best[i+1][w] = best[i][w]
			if it.weight <= w {
				best[i+1][w] = max(best[i][w], best[i][w-it.weight]+it.value)
			}
		}
	}
	var taken []item
	for i, w := len(items), capacity; i > 0; i-- {
		if best[i][w] != best[i-1][w] {
			taken = append(taken, items[i-1])
			w -= items[i-1].weight
		}
	}
	return best[len(items)][capacity], taken
}

func main() {
	items := []item{
		{"map", 9, 150}, {"compass", 13, 35}, {"water", 153, 200}, {"sandwich", 50, 160},
		{"glucose", 15, 60}, {"tin", 68, 45}, {"banana", 27, 60}, {"apple", 39, 40},
		{"cheese", 23, 30}, {"suncream", 11, 70}, {"camera", 32, 30}, {"t-shirt", 24, 15},
		{"trousers", 48, 10}, {"umbrella", 73, 40}, {"waterproofs", 42, 75}, {"notebook", 22, 80},
		{"sunglasses", 7, 20}, {"towel", 18, 12}, {"socks", 4, 50}, {"book", 30, 10},
	}
	for _, capacity := range []int{50, 200, 400} {
		value, taken := pack(items, capacity)
		weight := 0
		fmt.Printf("capacity %d: value %d\n", capacity, value)
		for i := len(taken) - 1; i >= 0; i-- {
			fmt.Printf("  %-12s %3d %3d\n", taken[i].name, taken[i].weight, taken[i].value)
			weight += taken[i].weight
		}
		fmt.Println("  total weight", weight)
	}
}
