// Validates a list of readings and reports failure with exit status 3.
package main

import (
	"fmt"
	"os"
)

type reading struct {
	sensor string
	value  float64
}

func check(rs []reading) (bad int) {
	for _, r := range rs {
		verdict := "ok"
		if r.value < -40 || r.value > 85 {
			verdict = "OUT OF RANGE"
			bad++
			fmt.Fprintf(os.Stderr, "sensor %s: %.1f °C\n", r.sensor, r.value)
		}
		fmt.Printf("%-8s %7.1f  %s\n", r.sensor, r.value, verdict)
	}
	return bad
}

func main() {
	defer fmt.Println("never printed: os.Exit runs no deferred calls")
	rs := []reading{{"roof", 21.5}, {"cellar", -41}, {"engine", 85}, {"oven", 240.25}}
	if bad := check(rs); bad > 0 {
		fmt.Printf("%d of %d readings are bad\n", bad, len(rs))
		os.Exit(3)
	}
}
