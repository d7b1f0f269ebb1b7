// Record chain lengths below a million: a CPU-bound loop with a cache.
package main

import "fmt"

const limit = 1_000_000

func main() {
	length := make([]uint16, limit)
	length[1] = 1
	longest, highest := uint16(0), uint64(0)
	for n := 2; n < limit; n++ {
		x, steps := uint64(n), uint16(0)
		for x >= uint64(n) {
			if x%2 == 0 {
				x /= 2
			} else {
				x = 3*x + 1
				highest = max(highest, x)
			}
			steps++
		}
		length[n] = steps + length[x]
		if length[n] > longest {
			longest = length[n]
			if n > 1000 {
				fmt.Printf("%7d has a chain of %d\n", n, longest)
			}
		}
	}
	fmt.Println("highest value seen:", highest)
	histogram := [12]int{}
	for _, l := range length[1:] {
		histogram[l/50]++
	}
	for i, c := range histogram {
		fmt.Printf("%3d-%3d %7d\n", i*50, i*50+49, c)
	}
}
