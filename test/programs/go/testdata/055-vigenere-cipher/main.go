// Caesar, Vigenère and a frequency attack that finds the shift again.
package main

import (
	"fmt"
	"strings"
)

func shift(s string, by func(i int) int) string {
	i := 0
	return strings.Map(func(r rune) rune {
		base := 'a'
		switch {
		case r >= 'A' && r <= 'Z':
			base = 'A'
		case r < 'a' || r > 'z':
			return r
		}
		r = base + (r-base+rune(by(i))+26)%26
		i++
		return r
	}, s)
}

func caesar(s string, k int) string { return shift(s, func(int) int { return k }) }

func vigenere(s, key string, sign int) string {
	return shift(s, func(i int) int { return sign * int(key[i%len(key)]-'a') })
}

// crack compares letter counts with English ones by the chi-squared distance.
func crack(s string) (best int) {
	english := [26]float64{8.2, 1.5, 2.8, 4.3, 12.7, 2.2, 2, 6.1, 7, .15, .77, 4, 2.4, 6.7, 7.5, 1.9, .1, 6, 6.3, 9.1, 2.8, .98, 2.4, .15, 2, .074}
	low := 1e18
	for k := 0; k < 26; k++ {
		var count [26]float64
		n := 0.0
		for _, r := range strings.ToLower(caesar(s, -k)) {
			if r >= 'a' && r <= 'z' {
				count[r-'a']++
				n++
			}
		}
		score := 0.0
		for i, e := range english {
			d := count[i]/n*100 - e
			score += d * d / e
		}
		if score < low {
			low, best = score, k
		}
	}
	return best
}

func main() {
	plain := "Meet me where the old river bends, after the second bell; bring héllo 你好 🦀."
	for _, k := range []int{3, 13, 25} {
		c := caesar(plain, k)
		fmt.Println(c, "| cracked:", crack(c))
	}
	secret := vigenere(plain, "lemon", 1)
	fmt.Println(secret)
	fmt.Println(vigenere(secret, "lemon", -1) == plain)
}
