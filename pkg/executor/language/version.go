package language

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// versionForm is what every version looks like: one becomes part of file names, flags
// and messages, and the programs of an image say what they like.
var versionForm = lazyregexp.New(`^[0-9][0-9A-Za-z.+_~-]{0,63}$`)

func checkVersion(version string) error {
	if !versionForm().MatchString(version) {
		return fmt.Errorf("%.80q is no version", version)
	}
	return nil
}

// compareVersions orders names by the numbers in them, as people read them:
// 3.9 < 3.12, java-17 < java-21, and a name that another one continues comes
// before it. A pre-release (3.14.0rc1, v21.0.0-nightly) comes before its release.
func compareVersions(a, b string) int {
	for {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 || a == "" {
			return c
		}
		partA, restA := versionPart(a)
		partB, restB := versionPart(b)
		if c := compareParts(partA, partB); c != 0 {
			return c
		}
		a, b = restA, restB
	}
}

// rank orders what may follow a version: a pre-release, nothing, and all else.
func rank(rest string) int {
	switch {
	case rest == "":
		return 0
	case isPreRelease(rest):
		return -1
	}
	return 1
}

// isPreRelease tells whether what follows a version makes it earlier.
func isPreRelease(rest string) bool {
	rest = strings.TrimLeft(rest, "-.")
	for _, word := range []string{"rc", "a", "b", "alpha", "beta", "dev", "pre", "nightly", "ea"} {
		if after, ok := strings.CutPrefix(rest, word); ok && (after == "" || !isLetter(after[0])) {
			return true
		}
	}
	return false
}

// versionPart splits off the leading run of digits, or of anything else.
func versionPart(s string) (part, rest string) {
	digits := isDigit(s[0])
	end := 1
	for end < len(s) && isDigit(s[end]) == digits {
		end++
	}
	return s[:end], s[end:]
}

// compareParts compares runs: two numbers by value, else as text.
func compareParts(a, b string) int {
	if isDigit(a[0]) && isDigit(b[0]) {
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		if c := cmp.Compare(len(a), len(b)); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// versionMatches tells whether a version is meant by a shorter one: 3.12.1 by
// 3, 3.12 and 3.12.1, but not by 3.1.
func versionMatches(version, want string) bool {
	rest, ok := strings.CutPrefix(version, want)
	return ok && (rest == "" || rest[0] == '.')
}

// versionInPath is the number in a path that looks most like a version: the one
// with the most dots, and of those the first; empty if there is no number.
func versionInPath(path string) string {
	best := ""
	numbers := strings.FieldsFunc(path, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	for _, number := range numbers {
		number = strings.Trim(number, ".")
		if number != "" && (best == "" || strings.Count(number, ".") > strings.Count(best, ".")) {
			best = number
		}
	}
	return best
}

// Select returns the first toolchain whose version is meant by version, which
// may be shortened at a dot (3 and 3.12 mean 3.12.1); an empty version means
// the first toolchain. The error lists what there is.
func Select(tcs []Toolchain, version string) (Toolchain, error) {
	if len(tcs) == 0 {
		return Toolchain{}, fmt.Errorf("no toolchain is installed")
	}
	var have []string
	for _, tc := range tcs {
		if version == "" || versionMatches(tc.Version, version) {
			return tc, nil
		}
		have = append(have, tc.Version)
	}
	return Toolchain{}, fmt.Errorf("%s %s is not installed here; there is %s", tcs[0].Language, version, strings.Join(have, ", "))
}
