// Multiplies long decimal numbers with a number-theoretic transform.
package main

import (
	"fmt"
	"math/big"
	"strings"
)

const mod, root = 998244353, 3

func pow(b, e uint64) uint64 {
	r := uint64(1)
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = r * b % mod
		}
		b = b * b % mod
	}
	return r
}

func transform(a []uint64, inverse bool) {
	n := len(a)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j ^= bit; i < j {
			a[i], a[j] = a[j], a[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		w := pow(root, (mod-1)/uint64(size))
		if inverse {
			w = pow(w, mod-2)
		}
		for start := 0; start < n; start += size {
			z := uint64(1)
			for k := start; k < start+size/2; k++ {
				x, y := a[k], a[k+size/2]*z%mod
				a[k], a[k+size/2] = (x+y)%mod, (x+mod-y)%mod
				z = z * w % mod
			}
		}
	}
	if inverse {
		scale := pow(uint64(n), mod-2)
		for i := range a {
			a[i] = a[i] * scale % mod
		}
	}
}

func multiply(x, y string) string {
	n := 1
	for n < len(x)+len(y) {
		n *= 2
	}
	a, b := make([]uint64, n), make([]uint64, n)
	for i := range x {
		a[len(x)-1-i] = uint64(x[i] - '0')
	}
	for i := range y {
		b[len(y)-1-i] = uint64(y[i] - '0')
	}
	transform(a, false)
	transform(b, false)
	for i := range a {
		a[i] = a[i] * b[i] % mod
	}
	transform(a, true)
	out, carry := make([]byte, n), uint64(0)
	for i, v := range a {
		v += carry
		out[n-1-i], carry = byte('0'+v%10), v/10
	}
	return strings.TrimLeft(string(out), "0")
}

func main() {
	fmt.Println(multiply("123456789", "987654321"))
	x, y := strings.Repeat("31415926535", 900), strings.Repeat("27182818284", 900)
	p := multiply(x, y)
	a, _ := new(big.Int).SetString(x, 10)
	b, _ := new(big.Int).SetString(y, 10)
	fmt.Println(len(p), "digits", p[:30], "...", p[len(p)-30:])
	fmt.Println("math/big agrees:", a.Mul(a, b).String() == p)
}
