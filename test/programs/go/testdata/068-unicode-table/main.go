// Names and codes of whole Unicode blocks: large output, all of it multi-byte.
package main

import (
	"bufio"
	"fmt"
	"os"
	"unicode"
	"unicode/utf16"
)

func main() {
	blocks := []struct {
		name     string
		from, to rune
	}{
		{"Latin-1 Supplement", 0xc0, 0xff},
		{"Greek", 0x391, 0x3c9},
		{"Cyrillic", 0x410, 0x44f},
		{"Hiragana", 0x3041, 0x3096},
		{"CJK (part)", 0x4e00, 0x5dff},
		{"Emoji (part)", 0x1f980, 0x1f9a2},
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	for _, b := range blocks {
		fmt.Fprintf(w, "== %s ==\n", b.name)
		letters := 0
		for r := b.from; r <= b.to; r++ {
			if unicode.IsLetter(r) {
				letters++
			}
			fmt.Fprintf(w, "%c %U", r, r)
			if up := unicode.ToUpper(r); up != r {
				fmt.Fprintf(w, " upper %c", up)
			}
			if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
				fmt.Fprintf(w, " surrogates %04X %04X", hi, lo)
			}
			sep := byte('\t')
			if (r-b.from)%8 == 7 {
				sep = '\n'
			}
			w.WriteByte(sep)
		}
		fmt.Fprintf(w, "\n%d code points, %d letters\n", b.to-b.from+1, letters)
	}
}
