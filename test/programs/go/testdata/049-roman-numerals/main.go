// Roman numerals both ways, with validation.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

var numerals = []struct {
	value  int
	letter string
}{
	{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"},
	{50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
}

type roman int

func (r roman) String() string {
	var b strings.Builder
	for _, n := range numerals {
		for r >= roman(n.value) {
			b.WriteString(n.letter)
			r -= roman(n.value)
		}
	}
	return b.String()
}

var errNotRoman = errors.New("not a roman numeral")

func parse(s string) (roman, error) {
	value, rest := 0, strings.ToUpper(s)
	for _, n := range numerals {
		for strings.HasPrefix(rest, n.letter) {
			value += n.value
			rest = rest[len(n.letter):]
		}
	}
	if r := roman(value); rest == "" && r.String() == strings.ToUpper(s) && value > 0 {
		return r, nil
	}
	return 0, fmt.Errorf("%q: %w", s, errNotRoman)
}

func main() {
	for _, n := range []roman{1, 4, 9, 14, 40, 90, 400, 944, 1987, 2024, 3999} {
		fmt.Printf("%4d = %v\n", int(n), n)
	}
	for n := roman(1); n < 4000; n++ {
		if back, err := parse(n.String()); err != nil || back != n {
			fmt.Println("broken at", int(n))
			os.Exit(1)
		}
	}
	for _, s := range []string{"mcmxc", "IIII", "VX", "", "MMXXIVa", "IC"} {
		n, err := parse(s)
		fmt.Println(s, int(n), err)
	}
}
