// Counts the placements of n queens with bit masks and draws the first one.
package main

import (
	"fmt"
	"math/bits"
	"strings"
)

type solver struct {
	n     int
	count int
	first []int
	rows  []int
}

func (s *solver) place(cols, left, right uint) {
	all := uint(1)<<s.n - 1
	if cols == all {
		s.count++
		if s.first == nil {
			s.first = append([]int(nil), s.rows...)
		}
		return
	}
	for free := all &^ (cols | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		s.rows = append(s.rows, bits.TrailingZeros(bit))
		s.place(cols|bit, (left|bit)<<1, (right|bit)>>1)
		s.rows = s.rows[:len(s.rows)-1]
	}
}

func main() {
	for n := 4; n <= 10; n++ {
		s := &solver{n: n}
		s.place(0, 0, 0)
		fmt.Printf("n=%-2d solutions=%d\n", n, s.count)
		if n == 8 {
			for _, col := range s.first {
				fmt.Println(strings.Repeat(". ", col) + "Q " + strings.Repeat(". ", n-col-1))
			}
		}
	}
}
