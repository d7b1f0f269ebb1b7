package nearest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	words := []string{"python", "javascript", "js", "rust", "go"}
	for in, want := range map[string]string{
		"pyhton": "python", "rsut": "rust", "java": "javascript", "gp": "go", "cobol": "", "": "", "j": "js",
		"pythom" + strings.Repeat(" ", 70): "",
	} {
		got := strings.Join(Words(in, words), " ")
		if got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}

// The distance is a metric as far as suggestions need it.
func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"python", "pyhton", 1}, {"rust", "rsut", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	word := rapid.StringMatching(`[a-c]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := editDistance(a, b)
		if (d == 0) != (a == b) || d != editDistance(b, a) || d > max(len(a), len(b)) {
			t.Fatalf("editDistance(%q, %q) = %d", a, b, d)
		}
	})
}
