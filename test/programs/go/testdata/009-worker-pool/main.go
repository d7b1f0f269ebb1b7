// Workers take jobs in any order; the results are printed in the jobs' order.
package main

import (
	"fmt"
	"sync"
)

type result struct {
	job, steps, peak int
}

func collatz(n int) result {
	r := result{job: n, peak: n}
	for x := n; x != 1; r.steps++ {
		if x%2 == 0 {
			x /= 2
		} else {
			x = 3*x + 1
		}
		r.peak = max(r.peak, x)
	}
	return r
}

func main() {
	const workers, jobs = 8, 40
	in := make(chan int)
	out := make([]result, jobs+1)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range in {
				out[n] = collatz(n)
			}
		}()
	}
	for n := 1; n <= jobs; n++ {
		in <- n
	}
	close(in)
	wg.Wait()

	longest := result{}
	for _, r := range out[1:] {
		fmt.Printf("%2d: %3d steps, peak %d\n", r.job, r.steps, r.peak)
		if r.steps > longest.steps {
			longest = r
		}
	}
	fmt.Println("longest:", longest.job)
}
