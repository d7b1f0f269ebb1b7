// Determinants and inverses over exact fractions, and a linear system.
package main

import (
	"errors"
	"fmt"
	"math/big"
)

type matrix [][]*big.Rat

func from(rows [][]int64) matrix {
	m := make(matrix, len(rows))
	for i, r := range rows {
		for _, v := range r {
			m[i] = append(m[i], big.NewRat(v, 1))
		}
	}
	return m
}

var errSingular = errors.New("matrix is singular")

// reduce brings the left square part to the identity and returns its determinant.
func (m matrix) reduce() (*big.Rat, error) {
	det := big.NewRat(1, 1)
	for c := range m {
		p := c
		for p < len(m) && m[p][c].Sign() == 0 {
			p++
		}
		if p == len(m) {
			return new(big.Rat), errSingular
		}
		if p != c {
			m[p], m[c] = m[c], m[p]
			det.Neg(det)
		}
		pivot := new(big.Rat).Set(m[c][c])
		det.Mul(det, pivot)
		for j := range m[c] {
			m[c][j].Quo(m[c][j], pivot)
		}
		for r := range m {
			if f := new(big.Rat).Set(m[r][c]); r != c && f.Sign() != 0 {
				for j := range m[r] {
					m[r][j].Sub(m[r][j], new(big.Rat).Mul(f, m[c][j]))
				}
			}
		}
	}
	return det, nil
}

func (m matrix) String() (s string) {
	for _, r := range m {
		for _, v := range r {
			s += fmt.Sprintf("%8s", v.RatString())
		}
		s += "\n"
	}
	return s
}

func main() {
	m := from([][]int64{{2, 1, -1, 8}, {-3, -1, 2, -11}, {-2, 1, 2, -3}})
	det, err := m.reduce()
	fmt.Printf("det %s, %v\n%v", det.RatString(), err, m)

	hilbert := make(matrix, 5)
	for i := range hilbert {
		for j := range hilbert {
			hilbert[i] = append(hilbert[i], big.NewRat(1, int64(i+j+1)))
		}
		for j := range hilbert {
			hilbert[i] = append(hilbert[i], big.NewRat(map[bool]int64{true: 1}[i == j], 1))
		}
	}
	det, err = hilbert.reduce()
	fmt.Printf("det %s, %v\n", det.RatString(), err)
	for i := range hilbert {
		hilbert[i] = hilbert[i][5:]
	}
	fmt.Print(hilbert)
	_, err = from([][]int64{{1, 2}, {2, 4}}).reduce()
	fmt.Println(err)
}
