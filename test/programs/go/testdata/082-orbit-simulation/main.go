// A planet, a moon and a probe around a star, by leapfrog with fixed steps.
package main

import (
	"fmt"
	"math"
)

type vec struct{ x, y float64 }

func (a vec) plus(b vec, k float64) vec { return vec{a.x + k*b.x, a.y + k*b.y} }

type body struct {
	name     string
	mass     float64
	pos, vel vec
}

func accelerations(bs []body) []vec {
	out := make([]vec, len(bs))
	for i := range bs {
		for j := range bs {
			if i != j {
				d := bs[j].pos.plus(bs[i].pos, -1)
				r2 := d.x*d.x + d.y*d.y
				out[i] = out[i].plus(d, bs[j].mass/(r2*math.Sqrt(r2)))
			}
		}
	}
	return out
}

func energy(bs []body) (e float64) {
	for i, a := range bs {
		e += a.mass * (a.vel.x*a.vel.x + a.vel.y*a.vel.y) / 2
		for _, b := range bs[i+1:] {
			d := b.pos.plus(a.pos, -1)
			e -= a.mass * b.mass / math.Hypot(d.x, d.y)
		}
	}
	return e
}

func main() {
	bs := []body{
		{"star", 1000, vec{0, 0}, vec{0, 0}},
		{"planet", 1, vec{10, 0}, vec{0, 10}},
		{"probe", 1e-6, vec{-20, 0}, vec{0, -6}},
	}
	start := energy(bs)
	const dt = 1e-4
	acc := accelerations(bs)
	for step := 1; step <= 100_000; step++ {
		for i := range bs {
			bs[i].vel = bs[i].vel.plus(acc[i], dt/2)
			bs[i].pos = bs[i].pos.plus(bs[i].vel, dt)
		}
		acc = accelerations(bs)
		for i := range bs {
			bs[i].vel = bs[i].vel.plus(acc[i], dt/2)
		}
		if step%20_000 == 0 {
			fmt.Printf("t=%.0f", float64(step)*dt)
			for _, b := range bs {
				fmt.Printf("  %s (%.2f, %.2f)", b.name, b.pos.x, b.pos.y)
			}
			fmt.Println()
		}
	}
	fmt.Printf("energy drift below one in ten thousand: %v\n", math.Abs(energy(bs)/start-1) < 1e-4)
}
