// Miller–Rabin and Pollard's rho factor 64-bit numbers.
package main

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"
)

func mul(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi%m, lo, m)
	return r
}

func pow(b, e, m uint64) uint64 {
	r := uint64(1)
	for b %= m; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = mul(r, b, m)
		}
		b = mul(b, b, m)
	}
	return r
}

func prime(n uint64) bool {
	if n < 2 {
		return false
	}
	witnesses := []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}
	for _, p := range witnesses {
		if n%p == 0 {
			return n == p
		}
	}
	s := bits.TrailingZeros64(n - 1)
next:
	for _, a := range witnesses {
		x := pow(a, (n-1)>>s, n)
		if x == 1 || x == n-1 {
			continue
		}
		for i := 1; i < s; i++ {
			if x = mul(x, x, n); x == n-1 {
				continue next
			}
		}
		return false
	}
	return true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func rho(n uint64) uint64 {
	if n%2 == 0 {
		return 2
	}
	for c := uint64(1); ; c++ {
		f := func(x uint64) uint64 { return (mul(x, x, n) + c) % n }
		for x, y := f(2), f(f(2)); ; x, y = f(x), f(f(y)) {
			d := gcd(max(x, y)-min(x, y), n)
			if d == n {
				break
			}
			if d > 1 {
				return d
			}
		}
	}
}

func factor(n uint64) []uint64 {
	if n == 1 {
		return nil
	}
	if prime(n) {
		return []uint64{n}
	}
	d := rho(n)
	return append(factor(d), factor(n/d)...)
}

func main() {
	for _, n := range []uint64{60, 97, 1_000_000_007, 561, 1 << 40, 600851475143, 9999999900000001, 3215031751, 1000000016000000063, 4611686014132420609} {
		fs := factor(n)
		sort.Slice(fs, func(i, j int) bool { return fs[i] < fs[j] })
		fmt.Println(n, "=", strings.Trim(strings.ReplaceAll(fmt.Sprint(fs), " ", " × "), "[]"))
	}
}
