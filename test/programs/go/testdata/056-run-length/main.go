// Run-length encoding of text and of a one-bit picture.
package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

func encode(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && runes[j] == runes[i] {
			j++
		}
		if j-i > 1 {
			b.WriteString(strconv.Itoa(j - i))
		}
		b.WriteRune(runes[i])
		i = j
	}
	return b.String()
}

func decode(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n = n*10 + int(r-'0')
			continue
		}
		b.WriteString(strings.Repeat(string(r), max(n, 1)))
		n = 0
	}
	return b.String()
}

func main() {
	for _, s := range []string{"WWWWWWWWWWWWBWWWWWWWWWWWWBBB", "abc", "", "héééllo 你你你好🦀🦀🦀🦀"} {
		e := encode(s)
		fmt.Printf("%q -> %q (%v)\n", s, e, decode(e) == s)
	}
	picture := "14.4#14.\n11.3#4.3#11.\n9.2#10.2#9.\n8.#4.##2.##4.#8.\n8.#14.#8.\n8.#3.#6.#3.#8.\n9.2#2.6#2.2#9.\n11.3#4.3#11.\n14.4#14."
	for _, line := range strings.Split(picture, "\n") {
		fmt.Println(decode(line))
	}
	long := strings.Repeat(strings.Repeat("a", 999)+"b", 1000)
	fmt.Println(len(long), "->", len(encode(long)))
}
