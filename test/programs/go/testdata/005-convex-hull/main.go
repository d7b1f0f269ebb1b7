// Andrew's monotone chain, then the area and perimeter of the hull.
package main

import (
	"fmt"
	"math"
	"sort"
)

type point struct{ x, y int }

func cross(o, a, b point) int {
	return (a.x-o.x)*(b.y-o.y) - (a.y-o.y)*(b.x-o.x)
}

func half(pts []point) []point {
	var h []point
	for _, p := range pts {
		for len(h) >= 2 && cross(h[len(h)-2], h[len(h)-1], p) <= 0 {
			h = h[:len(h)-1]
		}
		h = append(h, p)
	}
	return h[:len(h)-1]
}

func hull(pts []point) []point {
	sort.Slice(pts, func(i, j int) bool {
		if pts[i].x != pts[j].x {
			return pts[i].x < pts[j].x
		}
		return pts[i].y < pts[j].y
	})
	lower := half(pts)
	for i, j := 0, len(pts)-1; i < j; i, j = i+1, j-1 {
		pts[i], pts[j] = pts[j], pts[i]
	}
	return append(lower, half(pts)...)
}

func main() {
	var pts []point
	seed := 12345
	for i := 0; i < 60; i++ {
		seed = (seed*1103515245 + 12345) % (1 << 31)
		x := seed / 65536 % 100
		seed = (seed*1103515245 + 12345) % (1 << 31)
		pts = append(pts, point{x, seed / 65536 % 100})
	}
	h := hull(pts)
	area, perimeter := 0, 0.0
	for i, p := range h {
		q := h[(i+1)%len(h)]
		area += p.x*q.y - q.x*p.y
		perimeter += math.Hypot(float64(q.x-p.x), float64(q.y-p.y))
		fmt.Printf("(%d,%d) ", p.x, p.y)
	}
	fmt.Printf("\n%d of %d points on the hull\n", len(h), len(pts))
	fmt.Printf("area %.1f, perimeter %.3f\n", float64(area)/2, perimeter)
}
