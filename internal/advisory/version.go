package advisory

import (
	"cmp"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// upstreamVersion is what upstream calls a version: numbers, and perhaps that it
// comes before the release. gVisor's are days, which Debian puts behind 0.0~.
var upstreamVersion = lazyregexp.New(`^(?:v|release-|0\.0~)?(\d+(?:\.\d+)*)(?:[-~.]?(alpha|beta|rc)[-.]?(\d+))?`)

// upstream is a version as [compare] orders it, without what a distribution has put
// behind it; empty when there is none.
func upstream(version string) string {
	m := upstreamVersion().FindStringSubmatch(version)
	switch {
	case m == nil:
		return ""
	case m[2] == "":
		return m[1]
	default:
		return m[1] + "~" + m[2] + m[3]
	}
}

// AtLeast tells whether a component is of an upstream version or a later one. One whose
// version cannot be read is not.
func (c Component) AtLeast(version string) bool {
	have := upstream(c.Version)
	return have != "" && compare(have, version) >= 0
}

// line is the line of releases that a version belongs to: its first two numbers.
func line(version string) string {
	version, _, _ = strings.Cut(upstream(version), "~")
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// compare orders versions as dpkg does (deb-version(7)): by epoch, upstream version
// and revision.
func compare(a, b string) int {
	epochA, upstreamA, revisionA := split(a)
	epochB, upstreamB, revisionB := split(b)
	return cmp.Or(comparePart(epochA, epochB), comparePart(upstreamA, upstreamB), comparePart(revisionA, revisionB))
}

// split takes a version apart: [epoch:]upstream[-revision].
func split(version string) (epoch, upstream, revision string) {
	epoch, upstream, ok := strings.Cut(version, ":")
	if !ok {
		epoch, upstream = "", version
	}
	if i := strings.LastIndexByte(upstream, '-'); i >= 0 {
		upstream, revision = upstream[:i], upstream[i+1:]
	}
	return epoch, upstream, revision
}

// comparePart orders by what is no digit, then by the number behind it, and so on.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		var wordA, wordB, numberA, numberB string
		wordA, a = cut(a, func(c byte) bool { return !isDigit(c) })
		wordB, b = cut(b, func(c byte) bool { return !isDigit(c) })
		numberA, a = cut(a, isDigit)
		numberB, b = cut(b, isDigit)
		if d := cmp.Or(compareWords(wordA, wordB), compareNumbers(numberA, numberB)); d != 0 {
			return d
		}
	}
	return 0
}

// cut splits s behind the bytes that belong.
func cut(s string, belongs func(byte) bool) (before, after string) {
	i := 0
	for i < len(s) && belongs(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// compareNumbers orders numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// compareWords orders a tilde before the end, the end before letters, and letters
// before everything else.
func compareWords(a, b string) int {
	for i := range max(len(a), len(b)) {
		if d := cmp.Compare(weight(a, i), weight(b, i)); d != 0 {
			return d
		}
	}
	return 0
}

func weight(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '~':
		return -1
	case 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z':
		return int(s[i])
	default:
		return int(s[i]) + 256
	}
}
