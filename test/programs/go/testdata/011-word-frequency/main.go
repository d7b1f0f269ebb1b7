// Counts the words of standard input and prints the most frequent ones.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
	"unicode"
)

func main() {
	counts := map[string]int{}
	lines, words := 0, 0
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		lines++
		fields := strings.FieldsFunc(sc.Text(), func(r rune) bool {
			return !unicode.IsLetter(r) && r != '\''
		})
		for _, w := range fields {
			counts[strings.ToLower(w)]++
			words++
		}
	}
	if err := sc.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
	keys := make([]string, 0, len(counts))
	for w := range counts {
		keys = append(keys, w)
	}
	sort.Slice(keys, func(i, j int) bool {
		if counts[keys[i]] != counts[keys[j]] {
			return counts[keys[i]] > counts[keys[j]]
		}
		return keys[i] < keys[j]
	})
	fmt.Printf("%d lines, %d words, %d different\n", lines, words, len(keys))
	for _, w := range keys[:min(10, len(keys))] {
		fmt.Printf("%3d %-10s %s\n", counts[w], w, strings.Repeat("#", counts[w]))
	}
}
