// Three classic sorts written once for every ordered type.
package main

import (
	"cmp"
	"fmt"
)

func insertionSort[T cmp.Ordered](s []T) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

func quickSort[T cmp.Ordered](s []T) {
	if len(s) < 2 {
		return
	}
	pivot, i := s[len(s)/2], 0
	for j, k := 0, len(s)-1; j <= k; {
		switch {
		case s[j] < pivot:
			s[i], s[j] = s[j], s[i]
			i++
			j++
		case s[j] > pivot:
			s[j], s[k] = s[k], s[j]
			k--
		default:
			j++
		}
		if j > k {
			quickSort(s[:i])
			quickSort(s[j:])
			return
		}
	}
}

func mergeSort[T cmp.Ordered](s []T) []T {
	if len(s) < 2 {
		return s
	}
	a, b := mergeSort(s[:len(s)/2]), mergeSort(s[len(s)/2:])
	out := make([]T, 0, len(s))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func main() {
	ints := []int{42, -7, 19, 0, 3, 3, 88, -7, 5}
	insertionSort(ints)
	fmt.Println(ints)

	words := []string{"pear", "apple", "fig", "date", "banana", "cherry"}
	quickSort(words)
	fmt.Println(words)

	floats := []float64{2.5, -1.25, 9.75, 0.5, 3.125}
	fmt.Println(mergeSort(floats))
}
