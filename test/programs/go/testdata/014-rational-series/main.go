// Harmonic and Bernoulli numbers as exact fractions.
package main

import (
	"fmt"
	"math/big"
)

func harmonic(n int64) *big.Rat {
	sum := new(big.Rat)
	for i := int64(1); i <= n; i++ {
		sum.Add(sum, big.NewRat(1, i))
	}
	return sum
}

// bernoulli follows Akiyama and Tanigawa.
func bernoulli(n int) *big.Rat {
	row := make([]*big.Rat, n+1)
	for m := range row {
		row[m] = big.NewRat(1, int64(m+1))
		for j := m; j > 0; j-- {
			row[j-1].Sub(row[j-1], row[j])
			row[j-1].Mul(row[j-1], big.NewRat(int64(j), 1))
		}
	}
	return row[0]
}

func egyptian(r *big.Rat) (parts []string) {
	one := big.NewInt(1)
	for r.Sign() > 0 {
		d := new(big.Int).Add(r.Denom(), new(big.Int).Sub(r.Num(), one))
		d.Quo(d, r.Num())
		parts = append(parts, "1/"+d.String())
		r = new(big.Rat).Sub(r, new(big.Rat).SetFrac(one, d))
	}
	return parts
}

func main() {
	for _, n := range []int64{1, 2, 5, 10, 20, 30} {
		h := harmonic(n)
		fmt.Printf("H(%d) = %s ≈ %s\n", n, h, h.FloatString(12))
	}
	for n := 0; n <= 20; n += 2 {
		fmt.Printf("B(%d) = %s\n", n, bernoulli(n).RatString())
	}
	fmt.Println("5/121 =", egyptian(big.NewRat(5, 121)))
}
