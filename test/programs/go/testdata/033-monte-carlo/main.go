// Seeded random numbers: an estimate of pi, a shuffle, a histogram.
package main

import (
	"fmt"
	"math/rand"
	"strings"
)

func main() {
	r := rand.New(rand.NewSource(42))
	inside := 0
	const throws = 1_000_000
	for i := 0; i < throws; i++ {
		x, y := r.Float64(), r.Float64()
		if x*x+y*y < 1 {
			inside++
		}
	}
	fmt.Printf("pi is about %.4f\n", 4*float64(inside)/throws)

	var dice [13]int
	for i := 0; i < 3600; i++ {
		dice[2+r.Intn(6)+r.Intn(6)]++
	}
	for sum := 2; sum <= 12; sum++ {
		fmt.Printf("%2d %4d %s\n", sum, dice[sum], strings.Repeat("*", dice[sum]/15))
	}
	deck := strings.Fields("A♠ K♠ Q♠ J♠ A♥ K♥ Q♥ J♥ A♦ K♦ Q♦ J♦")
	r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	fmt.Println(deck, r.Perm(8))

	position, furthest := 0, 0
	for step := 0; step < 10_000; step++ {
		position += 1 - 2*r.Intn(2)
		if d := max(position, -position); d > furthest {
			furthest = d
		}
	}
	fmt.Println("walk ended at", position, "and went as far as", furthest)
}
