// The Mandelbrot set in characters, rows computed in parallel.
package main

import (
	"fmt"
	"sync"
)

const width, height, limit = 78, 30, 200

// escape counts the steps; the conversions keep every machine from fusing a
// multiplication with an addition, which would move points at the edge.
func escape(re, im float64) int {
	x, y := 0.0, 0.0
	for n := 0; n < limit; n++ {
		xx, yy, xy := float64(x*x), float64(y*y), float64(x*y)
		if xx+yy > 4 {
			return n
		}
		x, y = xx-yy+re, xy+xy+im
	}
	return limit
}

func main() {
	shades := []rune(" .:-=+*%@█")
	var rows [height]string
	var inside [height]int
	var wg sync.WaitGroup
	for y := range rows {
		y := y
		wg.Add(1)
		go func() {
			defer wg.Done()
			line := make([]rune, width)
			for x := range line {
				n := escape(float64(x)/24-2.25, float64(y)/12-1.25)
				if n == limit {
					inside[y]++
					line[x] = shades[len(shades)-1]
				} else {
					line[x] = shades[min(n/2, len(shades)-2)]
				}
			}
			rows[y] = string(line)
		}()
	}
	wg.Wait()
	total := 0
	for y, r := range rows {
		fmt.Println(r)
		total += inside[y]
	}
	fmt.Println("points inside:", total)
}
