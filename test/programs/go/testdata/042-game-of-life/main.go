// Conway's game on an unbounded board kept as a set of live cells.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type cell struct{ x, y int }
type board map[cell]bool

func parse(s string) board {
	b := board{}
	for y, line := range strings.Split(strings.TrimSpace(s), "\n") {
		for x, c := range line {
			if c == '#' {
				b[cell{x, y}] = true
			}
		}
	}
	return b
}

func (b board) next() board {
	counts := map[cell]int{}
	for c := range b {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				if dx != 0 || dy != 0 {
					counts[cell{c.x + dx, c.y + dy}]++
				}
			}
		}
	}
	out := board{}
	for c, n := range counts {
		if n == 3 || n == 2 && b[c] {
			out[c] = true
		}
	}
	return out
}

func (b board) draw() {
	var xs, ys []int
	for c := range b {
		xs, ys = append(xs, c.x), append(ys, c.y)
	}
	sort.Ints(xs)
	sort.Ints(ys)
	for y := ys[0]; y <= ys[len(ys)-1]; y++ {
		for x := xs[0]; x <= xs[len(xs)-1]; x++ {
			fmt.Print(map[bool]string{true: "█", false: "·"}[b[cell{x, y}]])
		}
		fmt.Println()
	}
	fmt.Printf("top left at (%d,%d), %d alive\n\n", xs[0], ys[0], len(b))
}

func main() {
	for _, seed := range []string{"###", ".#.\n..#\n###", ".##\n##.\n.#."} {
		b := parse(seed)
		b.draw()
		for i := 0; i < 40; i++ {
			b = b.next()
		}
		b.draw()
	}
}
