// Package nearest guesses what a mistyped word was meant to be.
package nearest

import (
	"slices"
	"strings"
)

// maxWord bounds the words that are compared: the comparison is quadratic, and the
// word may be a stranger's.
const maxWord = 64 // bytes

// Words returns the candidates that word was probably meant to be: those it
// is the beginning of, and those within two edits (one for words of up to
// three letters); nearest first, at most three.
func Words(word string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	if len(word) > maxWord {
		return nil
	}
	limit := 2
	if len(word) <= 3 {
		limit = 1
	}
	var matches []match
	for _, c := range candidates {
		d := editDistance(word, c)
		if _, begins := strings.CutPrefix(c, word); begins && len(word) >= 2 {
			d = min(d, 1)
		}
		if d <= limit {
			matches = append(matches, match{c, d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return a.distance - b.distance })
	var names []string
	for _, m := range matches[:min(3, len(matches))] {
		names = append(names, m.name)
	}
	return names
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
