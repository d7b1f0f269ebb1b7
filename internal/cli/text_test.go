package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"héllo 你好 🦀":    "héllo 你好 🦀",
		"a\x1b[2Jb":     `a\x1b[2Jb`,
		"a\r\n\tb":      `a\r\n\tb`,
		"\x9b31m":       `\x9b31m`,
		"\u009b31m":     `\u009b31m`,
		"evil\u202etxt": `evil\u202etxt`,
		"\u2028":        `\u2028`,
		"\xff\xfe":      `\xff\xfe`,
		"\ufffd":        "\ufffd",
		"\x00\x7f":      `\x00\x7f`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b]0;title\x07b")
	f.Add("\u202e\xff\xc2\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		got := printable(s)
		if !utf8.ValidString(got) {
			t.Errorf("printable(%q) = %q is not UTF-8", s, got)
		}
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				t.Errorf("printable(%q) = %q lets %U through", s, got, r)
			}
		}
	})
}

func TestAmounts(t *testing.T) {
	for got, want := range map[string]string{
		secondsText(0.0004): "400 µs", secondsText(0.0214): "21.4 ms", secondsText(0.5): "500 ms", secondsText(1.25): "1.25 s",
		amount(12, "processes"): "12 processes", amount(2, "seconds"): "2.00 s", plural(1, "file"): "1 file", plural(2, "file"): "2 files",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	for _, tt := range []struct {
		when     string
		terminal bool
		environ  []string
		want     bool
	}{
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, []string{"NO_COLOR=1"}, false},
		{"auto", true, []string{"NO_COLOR="}, true},
		{"auto", true, []string{"TERM=dumb"}, false},
		{"always", false, []string{"NO_COLOR=1"}, true},
		{"never", true, nil, false},
	} {
		if got := newPaint(tt.when, tt.terminal, tt.environ).on; got != tt.want {
			t.Errorf("%s on terminal %v with %v: colours %v", tt.when, tt.terminal, tt.environ, got)
		}
	}
}

func TestCut(t *testing.T) {
	c := cut{on: true, left: 5}
	var got []string
	for _, chunk := range []string{"abc", "def", "g"} {
		rest, first := c.take(chunk)
		got = append(got, string(rest))
		if first != (chunk == "def") {
			t.Errorf("%s: first cut %v", chunk, first)
		}
	}
	if s := strings.Join(got, "|"); s != "abc|de|" {
		t.Errorf("passed on %q", s)
	}
	all := cut{}
	if rest, first := all.take("abc"); string(rest) != "abc" || first {
		t.Errorf("without a cut %q, %v", rest, first)
	}
}

// Where output is cut is said on a line of its own, whatever was cut off, and
// what comes after it begins on one too.
func TestTextCut(t *testing.T) {
	const notice = "── stdout is cut here (--max-output)\n"
	for _, tt := range []struct {
		chunks []string
		want   string
	}{
		{[]string{"abc\ndef\n"}, "abc\nd\n" + notice + "── end\n"},
		{[]string{"abcd\nef"}, "abcd\n" + notice + "── end\n"},
		{[]string{"abcde", "f\n"}, "abcde\n" + notice + "── end\n"},
		{[]string{"abc\ndef\n", "more"}, "abc\nd\n" + notice + "── end\n"},
		{[]string{"abc"}, "abc\n── end\n"},
	} {
		var b bytes.Buffer
		p := &textPrinter{output: &output{stdout: &b, stderr: &b, cutStdout: cut{on: true, left: 5}}, shared: true, eol: "\n"}
		for _, chunk := range tt.chunks {
			if err := p.event(api.Event{Type: api.EventStdout, Data: chunk}); err != nil {
				t.Fatal(err)
			}
		}
		p.notice("end")
		if b.String() != tt.want {
			t.Errorf("%q shows %q, want %q", tt.chunks, b.String(), tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := strings.Join(wrap("one two three averyverylongword four", 9), "|")
	if want := "one two|three|averyverylongword|four"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A spinner that is stopped leaves nothing behind, whether it was seen or not.
func TestSpinner(t *testing.T) {
	var b bytes.Buffer
	s := &spinner{w: &b}
	s.start("compiling")
	s.start("again")
	s.stop()
	s.stop()
	if b.Len() > 0 {
		t.Errorf("a short wait shows %q", b.String())
	}
	seen := make(chan struct{}, 100)
	s = &spinner{w: notifying{&b, seen}}
	s.start("compiling")
	<-seen
	<-seen
	s.stop()
	if got := b.String(); !strings.Contains(got, "⠋ compiling") || !strings.HasSuffix(got, eraseLine) {
		t.Errorf("a long wait shows %q", got)
	}
}

type notifying struct {
	*bytes.Buffer
	seen chan struct{}
}

func (n notifying) Write(p []byte) (int, error) {
	defer func() { n.seen <- struct{}{} }()
	return n.Buffer.Write(p)
}

func (n notifying) WriteString(s string) (int, error) { return n.Write([]byte(s)) }
