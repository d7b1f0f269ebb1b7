// The sieve of Eratosthenes and a few questions asked of it.
package main

import "fmt"

func sieve(n int) []bool {
	composite := make([]bool, n+1)
	composite[0], composite[1] = true, true
	for p := 2; p*p <= n; p++ {
		if composite[p] {
			continue
		}
		for m := p * p; m <= n; m += p {
			composite[m] = true
		}
	}
	return composite
}

func goldbach(n int, composite []bool) (p, q, ways int) {
	for a := 2; a <= n/2; a++ {
		if !composite[a] && !composite[n-a] {
			if ways == 0 {
				p, q = a, n-a
			}
			ways++
		}
	}
	return p, q, ways
}

func main() {
	const limit = 2_000_000
	composite := sieve(limit)
	count, sum, twins, gap, gapAt, last := 0, 0, 0, 0, 0, 2
	for n, c := range composite {
		if c {
			continue
		}
		count++
		sum += n
		if n-last == 2 {
			twins++
		}
		if n-last > gap {
			gap, gapAt = n-last, last
		}
		last = n
	}
	fmt.Printf("primes below %d: %d, sum %d, last %d\n", limit, count, sum, last)
	fmt.Printf("twin pairs: %d, largest gap: %d after %d\n", twins, gap, gapAt)
	for _, n := range []int{28, 100, 1000, 65536, 1_000_000} {
		p, q, ways := goldbach(n, composite)
		fmt.Printf("%d = %d + %d (%d ways)\n", n, p, q, ways)
	}
}
