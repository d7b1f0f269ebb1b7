// Matrix powers by a pool of workers from a package of its own.
package main

import (
	"fmt"

	"example.test/matrix/dense"
	"example.test/matrix/pool"
)

func main() {
	p := pool.New(4)
	defer p.Close()

	const n = 120
	a := dense.Build(n, n, func(i, j int) uint64 { return uint64(i*j+i+1) % 1009 })
	b := dense.Build(n, n, func(i, j int) uint64 { return uint64(i+2*j) % 997 })
	product := dense.New(n, n)
	p.Each(n, func(row int) { dense.MultiplyRow(product, a, b, row) })
	fmt.Println("trace:", product.Trace(), "corner:", product.At(n-1, n-1))

	step := dense.Build(2, 2, func(i, j int) uint64 { return uint64(1 - i*j) })
	power := dense.Identity(2)
	for e := 90; e > 0; e >>= 1 {
		if e&1 == 1 {
			power = dense.Multiply(power, step)
		}
		step = dense.Multiply(step, step)
	}
	fmt.Println("fibonacci(90):", power.At(0, 1))

	sums := make([]uint64, 16)
	p.Each(len(sums), func(i int) {
		for k := 0; k <= i; k++ {
			sums[i] += product.At(k, i-k)
		}
	})
	fmt.Println("antidiagonals:", sums)
	fmt.Println("jobs done:", p.Done())
	defer func() { fmt.Println("recovered:", recover()) }()
	dense.Multiply(power, a)
}
