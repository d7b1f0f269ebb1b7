// Echoes its arguments, boxed and measured.
package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// width counts columns roughly: wide for CJK and emoji, one otherwise.
func width(s string) (w int) {
	for _, r := range s {
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300) {
			w++
		}
		w++
	}
	return w
}

func main() {
	args := os.Args[1:]
	widest := 0
	for _, a := range args {
		widest = max(widest, width(a))
	}
	bar := strings.Repeat("─", widest+2)
	fmt.Println("┌" + bar + "┐")
	for _, a := range args {
		fmt.Printf("│ %s%s │ %d bytes, %d runes\n", a, strings.Repeat(" ", widest-width(a)), len(a), utf8.RuneCountInString(a))
	}
	fmt.Println("└" + bar + "┘")
	fmt.Println(strings.ToUpper(strings.Join(args, "|")))
}
