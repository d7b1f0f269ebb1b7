// Package shape has plane figures and their measures.
package shape

import (
	"errors"
	"fmt"
	"math"
)

// Shape is anything with an area and a perimeter.
type Shape interface {
	Area() float64
	Perimeter() float64
}

type Circle struct{ Radius float64 }

func (c Circle) Area() float64      { return math.Pi * c.Radius * c.Radius }
func (c Circle) Perimeter() float64 { return 2 * math.Pi * c.Radius }
func (c Circle) String() string     { return fmt.Sprintf("circle r=%g", c.Radius) }

type Rectangle struct{ Width, Height float64 }

func Square(side float64) Rectangle { return Rectangle{side, side} }

func (r Rectangle) Area() float64      { return r.Width * r.Height }
func (r Rectangle) Perimeter() float64 { return 2 * (r.Width + r.Height) }
func (r Rectangle) String() string     { return fmt.Sprintf("rectangle %g×%g", r.Width, r.Height) }

type Triangle struct{ A, B, C float64 }

func (t Triangle) String() string     { return fmt.Sprintf("triangle %g-%g-%g", t.A, t.B, t.C) }
func (t Triangle) Perimeter() float64 { return t.A + t.B + t.C }
func (t Triangle) Area() float64 {
	s := t.Perimeter() / 2
	return math.Sqrt(s * (s - t.A) * (s - t.B) * (s - t.C))
}

// Scaled is another shape, enlarged.
type Scaled struct {
	Shape
	Factor float64
}

func (s Scaled) String() string     { return fmt.Sprintf("%g times %v", s.Factor, s.Shape) }
func (s Scaled) Area() float64      { return s.Factor * s.Factor * s.Shape.Area() }
func (s Scaled) Perimeter() float64 { return s.Factor * s.Shape.Perimeter() }

var ErrImpossible = errors.New("impossible shape")

type validator interface{ valid() bool }

func (t Triangle) valid() bool { return t.A+t.B > t.C && t.B+t.C > t.A && t.A+t.C > t.B }
func (c Circle) valid() bool   { return c.Radius > 0 }

// Validate asks the shapes that know how to tell.
func Validate(s Shape) error {
	if v, ok := s.(validator); ok && !v.valid() {
		return fmt.Errorf("%T: %w", s, ErrImpossible)
	}
	return nil
}
