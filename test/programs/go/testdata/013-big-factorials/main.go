// Exact integers far beyond 64 bits.
package main

import (
	"fmt"
	"math/big"
)

func fib(n int) *big.Int {
	a, b := big.NewInt(0), big.NewInt(1)
	for i := 0; i < n; i++ {
		a.Add(a, b)
		a, b = b, a
	}
	return a
}

func digitSum(n *big.Int) (sum int) {
	for _, d := range n.String() {
		sum += int(d - '0')
	}
	return sum
}

func main() {
	f := new(big.Int).MulRange(1, 100)
	fmt.Println("100! =", f)
	fmt.Println("digit sum:", digitSum(f), "trailing zero bits:", f.TrailingZeroBits())
	fmt.Println("fib(500) =", fib(500))

	m := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 521), big.NewInt(1))
	fmt.Println("2^521-1 prime:", m.ProbablyPrime(20), "digits:", len(m.String()))

	c := new(big.Int).Binomial(200, 100)
	fmt.Println("C(200,100) =", c)
	q, r := new(big.Int).QuoRem(c, big.NewInt(1_000_000_007), new(big.Int))
	fmt.Println("quotient", q, "remainder", r)

	e := new(big.Int).Exp(big.NewInt(7), big.NewInt(1_000_000), big.NewInt(998244353))
	fmt.Println("7^1000000 mod 998244353 =", e)
	fmt.Println("isqrt(2*10^60) =", new(big.Int).Sqrt(new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(60), nil))))
	fmt.Println("hex:", new(big.Int).Exp(big.NewInt(3), big.NewInt(80), nil).Text(16))
}
