// Solves the sudoku on standard input by always filling the tightest cell.
package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
)

type grid struct {
	cell            [81]int
	row, col, box   [9]uint16
	tries, unsolved int
}

func (g *grid) put(i, v int) {
	g.cell[i] = v
	g.toggle(i, v)
}

func (g *grid) toggle(i, v int) {
	bit := uint16(1) << v
	g.row[i/9] ^= bit
	g.col[i%9] ^= bit
	g.box[i/27*3+i%9/3] ^= bit
}

func (g *grid) free(i int) uint16 {
	return 0x3fe &^ (g.row[i/9] | g.col[i%9] | g.box[i/27*3+i%9/3])
}

func (g *grid) solve() bool {
	best, fewest := -1, 10
	for i, v := range g.cell {
		if n := bits.OnesCount16(g.free(i)); v == 0 && n < fewest {
			best, fewest = i, n
		}
	}
	if best < 0 {
		return true
	}
	for f := g.free(best); f != 0; f &= f - 1 {
		v := bits.TrailingZeros16(f)
		g.tries++
		g.put(best, v)
		if g.solve() {
			return true
		}
		g.toggle(best, v)
		g.cell[best] = 0
	}
	return false
}

func main() {
	g := &grid{}
	sc := bufio.NewScanner(os.Stdin)
	for r := 0; sc.Scan() && r < 9; r++ {
		for c, ch := range sc.Text() {
			if ch >= '1' && ch <= '9' {
				g.put(r*9+c, int(ch-'0'))
			} else {
				g.unsolved++
			}
		}
	}
	fmt.Println("open cells:", g.unsolved, "solved:", g.solve(), "tries:", g.tries)
	for i, v := range g.cell {
		fmt.Print(v, map[bool]string{true: "\n", false: " "}[i%9 == 8])
		if i == 26 || i == 53 {
			fmt.Println()
		}
	}
}
