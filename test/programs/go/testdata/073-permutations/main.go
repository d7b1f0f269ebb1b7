// Permutations in lexicographic order, by rank, and of a multiset.
package main

import (
	"fmt"
	"slices"
	"strings"
)

func next[T any](s []T, less func(a, b T) bool) bool {
	i := len(s) - 2
	for i >= 0 && !less(s[i], s[i+1]) {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(s) - 1
	for !less(s[i], s[j]) {
		j--
	}
	s[i], s[j] = s[j], s[i]
	slices.Reverse(s[i+1:])
	return true
}

func nth(letters string, rank int) string {
	pool, fact := strings.Split(letters, ""), 1
	for i := 2; i < len(pool); i++ {
		fact *= i
	}
	var b strings.Builder
	for n := len(pool); n > 0; n-- {
		i := rank / fact
		b.WriteString(pool[i])
		pool = slices.Delete(pool, i, i+1)
		rank %= fact
		if n > 1 {
			fact /= n - 1
		}
	}
	return b.String()
}

func main() {
	less := func(a, b rune) bool { return a < b }
	word := []rune("aabc")
	for i := 1; ; i++ {
		fmt.Printf("%2d %s  ", i, string(word))
		if i%4 == 0 {
			fmt.Println()
		}
		if !next(word, less) {
			break
		}
	}
	fmt.Println("millionth of the ten digits:", nth("0123456789", 999_999))
	fixedFree, total := 0, 0
	p := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for ok := true; ok; ok = next(p, func(a, b int) bool { return a < b }) {
		total++
		if !slices.ContainsFunc(p, func(v int) bool { return p[v] == v }) {
			fixedFree++
		}
	}
	fmt.Println(total, "permutations of 8,", fixedFree, "derangements")
}
