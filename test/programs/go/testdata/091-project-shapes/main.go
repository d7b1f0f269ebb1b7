// Measures shapes that come from a sub-package, through an interface.
package main

import (
	"fmt"
	"sort"

	"example.test/shapes/shape"
)

func main() {
	all := []shape.Shape{
		shape.Circle{Radius: 2},
		shape.Rectangle{Width: 3, Height: 4.5},
		shape.Triangle{A: 3, B: 4, C: 5},
		shape.Scaled{Shape: shape.Circle{Radius: 1}, Factor: 3},
		shape.Square(2.5),
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Area() < all[j].Area() })
	total := 0.0
	for _, s := range all {
		fmt.Printf("%-28v area %8.3f perimeter %7.3f\n", s, s.Area(), s.Perimeter())
		total += s.Area()
	}
	fmt.Printf("total area %.3f\n", total)
	for _, s := range []shape.Shape{shape.Triangle{A: 1, B: 2, C: 9}, shape.Circle{Radius: -1}, all[0]} {
		fmt.Println(s, shape.Validate(s))
	}
}
