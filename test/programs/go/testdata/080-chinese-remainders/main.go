// Extended Euclid, modular inverses, the remainder theorem, continued fractions.
package main

import (
	"errors"
	"fmt"
)

func extended(a, b int) (g, x, y int) {
	if b == 0 {
		return a, 1, 0
	}
	g, x, y = extended(b, a%b)
	return g, y, x - a/b*y
}

var errNone = errors.New("no solution")

func inverse(a, m int) (int, error) {
	g, x, _ := extended(a, m)
	if g != 1 {
		return 0, fmt.Errorf("inverse of %d mod %d: %w", a, m, errNone)
	}
	return (x%m + m) % m, nil
}

type congruence struct{ r, m int }

func solve(cs ...congruence) (congruence, error) {
	all := congruence{0, 1}
	for _, c := range cs {
		g, x, _ := extended(all.m, c.m)
		if (c.r-all.r)%g != 0 {
			return congruence{}, fmt.Errorf("%v and %v: %w", all, c, errNone)
		}
		l := all.m / g * c.m
		r := all.r + all.m*((c.r-all.r)/g*x%(c.m/g))
		all = congruence{(r%l + l) % l, l}
	}
	return all, nil
}

func continued(p, q int) (terms []int) {
	for q != 0 {
		terms = append(terms, p/q)
		p, q = q, p%q
	}
	return terms
}

func main() {
	fmt.Println(extended(240, 46))
	fmt.Println(inverse(3, 11))
	fmt.Println(inverse(10, 1_000_000_007))
	fmt.Println(inverse(6, 9))
	fmt.Println(solve(congruence{2, 3}, congruence{3, 5}, congruence{2, 7}))
	fmt.Println(solve(congruence{1, 4}, congruence{3, 6}, congruence{9, 10}))
	fmt.Println(solve(congruence{1, 4}, congruence{2, 6}))
	terms := continued(31415926, 10000000)
	fmt.Println(terms)
	h0, h1, k0, k1 := 0, 1, 1, 0
	for _, t := range terms[:5] {
		h0, h1, k0, k1 = h1, t*h1+h0, k1, t*k1+k0
		fmt.Printf("%d/%d = %.9f\n", h1, k1, float64(h1)/float64(k1))
	}
}
