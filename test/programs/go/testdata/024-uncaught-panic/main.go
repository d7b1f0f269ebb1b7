// Ends with an uncaught panic after useful output: exit status 2.
package main

import "fmt"

type matrix [][]float64

func (m matrix) times(o matrix) matrix {
	if len(m[0]) != len(o) {
		panic(fmt.Sprintf("cannot multiply %dx%d by %dx%d", len(m), len(m[0]), len(o), len(o[0])))
	}
	out := make(matrix, len(m))
	for i := range m {
		out[i] = make([]float64, len(o[0]))
		for j := range o[0] {
			for k := range o {
				out[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return out
}

func main() {
	defer fmt.Println("deferred calls still run")
	a := matrix{{1, 2, 3}, {4, 5, 6}}
	b := matrix{{1, 0}, {0, 1}, {2, 2}}
	fmt.Println(a.times(b))
	fmt.Println(b.times(a))
	fmt.Println(a.times(a))
}
