// All pairs of shortest paths, with a negative edge, and the arbitrage check.
package main

import (
	"fmt"
	"math"
)

var inf = math.Inf(1)

func closure(d [][]float64) (next [][]int) {
	next = make([][]int, len(d))
	for i := range d {
		next[i] = make([]int, len(d))
		for j := range next[i] {
			next[i][j] = j
		}
	}
	for k := range d {
		for i := range d {
			for j := range d {
				if s := d[i][k] + d[k][j]; s < d[i][j]-1e-12 {
					d[i][j], next[i][j] = s, next[i][k]
				}
			}
		}
	}
	return next
}

func main() {
	d := [][]float64{
		{0, 3, 8, inf, -4},
		{inf, 0, inf, 1, 7},
		{inf, 4, 0, inf, inf},
		{2, inf, -5, 0, inf},
		{inf, inf, inf, 6, 0},
	}
	next := closure(d)
	for _, row := range d {
		for _, v := range row {
			fmt.Printf("%5g", v)
		}
		fmt.Println()
	}
	for _, p := range [][2]int{{0, 2}, {2, 4}, {4, 1}} {
		fmt.Print(p[0])
		for at := p[0]; at != p[1]; {
			at = next[at][p[1]]
			fmt.Print(" → ", at)
		}
		fmt.Println(" costs", d[p[0]][p[1]])
	}

	names := []string{"EUR", "USD", "JPY", "CHF"}
	rates := [][]float64{{1, 1.1, 130, 1.05}, {0.9, 1, 120, 0.95}, {0.0076, 0.0083, 1, 0.0081}, {0.94, 1.06, 124, 1}}
	logs := make([][]float64, len(rates))
	for i, row := range rates {
		for _, r := range row {
			logs[i] = append(logs[i], -math.Log(r))
		}
	}
	closure(logs)
	for i, n := range names {
		fmt.Printf("%s: profitable circle %v\n", n, logs[i][i] < -1e-9)
	}
}
