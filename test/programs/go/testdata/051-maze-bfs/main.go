// The shortest way through the maze on standard input, drawn with arrows.
package main

import (
	"bufio"
	"fmt"
	"os"
)

type pos struct{ r, c int }

func main() {
	var maze [][]rune
	var start, goal pos
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		row := []rune(sc.Text())
		for c, ch := range row {
			switch ch {
			case 'S':
				start = pos{len(maze), c}
			case 'E':
				goal = pos{len(maze), c}
			}
		}
		maze = append(maze, row)
	}
	moves := []struct {
		dr, dc int
		arrow  rune
	}{{-1, 0, '↑'}, {0, 1, '→'}, {1, 0, '↓'}, {0, -1, '←'}}
	from := map[pos]int{start: -1}
	queue := []pos{start}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for i, m := range moves {
			n := pos{p.r + m.dr, p.c + m.dc}
			if _, seen := from[n]; !seen && maze[n.r][n.c] != '#' {
				from[n] = i
				queue = append(queue, n)
			}
		}
	}
	if _, ok := from[goal]; !ok {
		fmt.Println("no way out")
		os.Exit(1)
	}
	steps := 0
	for p := goal; p != start; steps++ {
		m := moves[from[p]]
		p = pos{p.r - m.dr, p.c - m.dc}
		if p != start {
			maze[p.r][p.c] = m.arrow
		}
	}
	for _, row := range maze {
		fmt.Println(string(row))
	}
	fmt.Println("steps:", steps, "reachable cells:", len(from))
}
