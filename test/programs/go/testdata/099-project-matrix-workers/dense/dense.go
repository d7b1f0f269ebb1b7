// Package dense has matrices of unsigned integers, modulo 2^64.
package dense

import "fmt"

type Matrix struct {
	rows, cols int
	data       []uint64
}

func New(rows, cols int) *Matrix {
	return &Matrix{rows, cols, make([]uint64, rows*cols)}
}

func Build(rows, cols int, f func(i, j int) uint64) *Matrix {
	m := New(rows, cols)
	for i := 0; i < rows; i++ {
		for j := 0; j < cols; j++ {
			m.data[i*cols+j] = f(i, j)
		}
	}
	return m
}

func Identity(n int) *Matrix {
	return Build(n, n, func(i, j int) uint64 {
		if i == j {
			return 1
		}
		return 0
	})
}

func (m *Matrix) At(i, j int) uint64 { return m.data[i*m.cols+j] }

func (m *Matrix) Trace() (sum uint64) {
	for i := 0; i < m.rows; i++ {
		sum += m.At(i, i)
	}
	return sum
}

// MultiplyRow sets one row of out; different rows may run at the same time.
func MultiplyRow(out, a, b *Matrix, i int) {
	for j := 0; j < b.cols; j++ {
		var sum uint64
		for k := 0; k < a.cols; k++ {
			sum += a.At(i, k) * b.At(k, j)
		}
		out.data[i*out.cols+j] = sum
	}
}

func Multiply(a, b *Matrix) *Matrix {
	if a.cols != b.rows {
		panic(fmt.Sprintf("dense: %dx%d times %dx%d", a.rows, a.cols, b.rows, b.cols))
	}
	out := New(a.rows, b.cols)
	for i := 0; i < a.rows; i++ {
		MultiplyRow(out, a, b, i)
	}
	return out
}
