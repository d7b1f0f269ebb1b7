// A pipeline of goroutines: generate, filter, transform, fold.
package main

import "fmt"

func generate(n int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for i := 1; i <= n; i++ {
			out <- i
		}
	}()
	return out
}

func filter(in <-chan int, keep func(int) bool) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for v := range in {
			if keep(v) {
				out <- v
			}
		}
	}()
	return out
}

func transform[A, B any](in <-chan A, f func(A) B) <-chan B {
	out := make(chan B, 4)
	go func() {
		defer close(out)
		for v := range in {
			out <- f(v)
		}
	}()
	return out
}

func main() {
	odd := func(n int) bool { return n%2 == 1 }
	square := func(n int) int { return n * n }
	sum := 0
	for v := range transform(filter(generate(999), odd), square) {
		sum += v
	}
	fmt.Println("sum of odd squares below 1000:", sum)

	// A prime sieve built from a chain of filters that grows as it runs.
	primes, ch := []int{}, generate(200)
	<-ch
	for len(primes) < 25 {
		p := <-ch
		primes = append(primes, p)
		ch = filter(ch, func(n int) bool { return n%p != 0 })
	}
	fmt.Println(primes)
	for s := range transform(generate(5), func(n int) string { return fmt.Sprintf("<%03b>", n) }) {
		fmt.Print(s)
	}
	fmt.Println()
}
