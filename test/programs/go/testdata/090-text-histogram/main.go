// Statistics of the numbers on standard input, with a histogram and quartiles.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
)

func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	lo := int(at)
	if lo+1 == len(sorted) {
		return sorted[lo]
	}
	return sorted[lo] + (at-float64(lo))*(sorted[lo+1]-sorted[lo])
}

func main() {
	var xs []float64
	rejected := 0
	sc := bufio.NewScanner(os.Stdin)
	sc.Split(bufio.ScanWords)
	for sc.Scan() {
		v, err := strconv.ParseFloat(sc.Text(), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			rejected++
			continue
		}
		xs = append(xs, v)
	}
	if len(xs) == 0 {
		fmt.Fprintln(os.Stderr, "no numbers")
		os.Exit(1)
	}
	sort.Float64s(xs)
	mean, m2 := 0.0, 0.0
	for i, x := range xs {
		d := x - mean
		mean += d / float64(i+1)
		m2 += d * (x - mean)
	}
	fmt.Printf("n=%d rejected=%d mean=%.3f sd=%.3f\n", len(xs), rejected, mean, math.Sqrt(m2/float64(len(xs)-1)))
	fmt.Printf("min=%g q1=%g median=%g q3=%g max=%g\n", xs[0], quantile(xs, .25), quantile(xs, .5), quantile(xs, .75), xs[len(xs)-1])
	const bins = 6
	var counts [bins]int
	width := (xs[len(xs)-1] - xs[0]) / bins
	for _, x := range xs {
		counts[min(bins-1, int((x-xs[0])/width))]++
	}
	for i, c := range counts {
		fmt.Printf("%7.2f %2d %s\n", xs[0]+float64(i)*width, c, strings.Repeat("▇", c))
	}
}
