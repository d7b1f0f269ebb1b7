// A line diff by longest common subsequence, and edit distances of words.
package main

import (
	"fmt"
	"strings"
)

func diff(a, b []string) (out []string) {
	lcs := make([][]int, len(a)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && lcs[i+1][j] >= lcs[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}

func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j := range t {
			cost := diagonal
			if s[i] != t[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(t)]
}

func main() {
	old := "package main\n\nfunc main() {\n\tprintln(1)\n\tprintln(2)\n}\n// end"
	changed := "package main\n\nimport \"os\"\n\nfunc main() {\n\tprintln(2)\n\tos.Exit(0)\n}\n// end"
	fmt.Println(strings.Join(diff(strings.Split(old, "\n"), strings.Split(changed, "\n")), "\n"))
	for _, p := range [][2]string{{"kitten", "sitting"}, {"", "abc"}, {"flaw", "lawn"}, {"héllo 你好 🦀", "hello 您好 🦞"}, {"same", "same"}} {
		fmt.Printf("%q %q %d\n", p[0], p[1], distance(p[0], p[1]))
	}
}
