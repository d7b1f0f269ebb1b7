// Looks at the lines of standard input as bytes, runes and classes.
package main

import (
	"bufio"
	"fmt"
	"os"
	"unicode"
	"unicode/utf8"
)

func class(r rune) string {
	switch {
	case unicode.Is(unicode.Han, r):
		return "han"
	case unicode.Is(unicode.Cyrillic, r):
		return "cyrillic"
	case unicode.IsUpper(r):
		return "upper"
	case unicode.IsLower(r):
		return "lower"
	case unicode.IsDigit(r):
		return "digit"
	case unicode.IsSpace(r):
		return "space"
	case unicode.Is(unicode.Mn, r):
		return "mark"
	case unicode.IsSymbol(r):
		return "symbol"
	}
	return "other"
}

func reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func main() {
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		s := sc.Text()
		fmt.Printf("%q: %d bytes, %d runes, reversed %q\n", s, len(s), utf8.RuneCountInString(s), reverse(s))
		for i, r := range s {
			fmt.Printf("  %2d %U % x %s\n", i, r, string(r), class(r))
		}
	}
	bad := "a\xffb\xc3"
	fmt.Println(utf8.ValidString(bad), []rune(bad), fmt.Sprintf("%+q", "héllo 🦀"))
}
