// Knuth, Morris and Pratt: every occurrence, overlapping ones included.
package main

import (
	"fmt"
	"strings"
)

func failure(p []rune) []int {
	f := make([]int, len(p))
	for i, k := 1, 0; i < len(p); i++ {
		for k > 0 && p[i] != p[k] {
			k = f[k-1]
		}
		if p[i] == p[k] {
			k++
		}
		f[i] = k
	}
	return f
}

func search(text, pattern string) []int {
	t, p := []rune(text), []rune(pattern)
	f := failure(p)
	var at []int
	for i, k := 0, 0; i < len(t); i++ {
		for k > 0 && t[i] != p[k] {
			k = f[k-1]
		}
		if t[i] == p[k] {
			k++
		}
		if k == len(p) {
			at = append(at, i-k+1)
			k = f[k-1]
		}
	}
	return at
}

func main() {
	fmt.Println(failure([]rune("abacabadabacaba")))
	for _, c := range [][2]string{
		{"abababababa", "aba"},
		{"aaaaaa", "aa"},
		{"héllo 你好 🦀 héllo 你好 🦀", "你好 🦀"},
		{"GCATCGCAGAGAGTATACAGTACG", "GCAGAGAG"},
		{"nothing here", "xyz"},
	} {
		at := search(c[0], c[1])
		fmt.Printf("%q in %q: %v\n", c[1], c[0], at)
	}
	long := strings.Repeat("ab", 50_000) + "c"
	fmt.Println(search(long, "ababc"))
}
