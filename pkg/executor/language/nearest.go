package language

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// maxNearest bounds how many names an error suggests.
const maxNearest = 3

// nearestNames lists the names that a mistyped one may have meant, the most
// alike first: those that differ by at most a third of their characters, or by
// one.
func nearestNames(name string, names []string) []string {
	if utf8.RuneCountInString(name) > 64 {
		return nil // no name is so long, and the comparison is quadratic
	}
	distances := make(map[string]int)
	for _, candidate := range names {
		limit := max(1, utf8.RuneCountInString(candidate)/3)
		if d := editDistance(name, candidate); d <= limit {
			distances[candidate] = d
		}
	}
	near := make([]string, 0, len(distances))
	for candidate := range distances {
		near = append(near, candidate)
	}
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return near[:min(len(near), maxNearest)]
}

// editDistance counts the characters to insert, delete, replace or swap with
// their neighbour to turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			change := 1
			if from[i-1] == to[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
