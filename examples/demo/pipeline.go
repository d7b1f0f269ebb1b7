// A pipeline of goroutines that sums squares.
package main

import (
	"fmt"
	"sync"
)

func main() {
	numbers := make(chan int)
	sums := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			sum := 0
			for n := range numbers {
				sum += n * n
			}
			sums <- sum
		}()
	}
	go func() {
		for n := range 100_001 {
			numbers <- n
		}
		close(numbers)
		workers.Wait()
		close(sums)
	}()
	total := 0
	for s := range sums {
		total += s
	}
	fmt.Println("the squares up to 100,000 add up to", total)
}
