package doctest

import (
	"os"
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	figures := "── ok · exit 0 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation full"
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"42\n", "42\n", true},
		{"42\n", "42", true},
		{"42\n", "42\r\n\n", true},
		{"42\n", "43\n", false},
		{"", "42\n", false},
		{"42\n", "", false},
		{"42\n", "42\n43\n", false},
		{"a … c\n", "a b c\n", true},
		{"a … c\n", "a b\nc\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n  …\nd\n", "a\nd\n", true},
		{"a\n…\nd\n", "a\nb\nc\n", false},
		{"a.b\n", "axb\n", false},
		{"── python 3.11.7\n42\n", "── python 3.13.0\n42\n", true},
		{"── python 3.11.7\n", "── ruby 3.11.7\n", false},
		{figures, "── ok · exit 0 · 1.20 s · cpu 987 µs · memory 1016 KiB · isolation full\n", true},
		{figures, "── ok · exit 1 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation full\n", false},
		{figures, "── ok · exit 0 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation none\n", false},
		{"3.2 MiB\n", "3.3 MiB\n", false},
		{"42\n", "42\n── warning: limits: memory is sampled; sandbox-run doctor tells how to mend it\n", true},
	} {
		if matches(c.want, c.got) != c.match {
			t.Errorf("%q matches %q: want %v", c.got, c.want, c.match)
		}
	}
}

func suite(t *testing.T) Suite {
	t.Helper()
	return Suite{
		Name: "program", Program: "/bin/echo", Dir: t.TempDir(), Env: []string{"GREETING=hello"},
		Needs: map[string]func(*testing.T) bool{
			"something": func(*testing.T) bool { return true },
			"nothing":   func(*testing.T) bool { return false },
		},
		Attributes: []string{"server"},
	}
}

// session is a page with one session.
func session(info, text string) string { return "```console" + info + "\n" + text + "```\n" }

func TestRun(t *testing.T) {
	page := "Here is `sub/file.txt`,\nwhich\n\n```text title=sub/file.txt\nof the page\n```\n\n```\nnot run\n```\n" +
		session("", "$ program $GREETING \\\n  'two\nlines'\nhello two\nlines\n$ cat sub/file.txt; A=b\nof the page\n"+
			"$ (exit 3); echo $A $?\nb 3\n$ (exit 4)\n$ echo $?\n4\n$ cat > here <<'EOF'\n$ no command\nEOF\n") +
		session(` needs=something server="A=b,C=d"`, "$ tr -d '$' < here; echo $A to stderr >&2\n no command\nto stderr\n") +
		session(" needs=something,nothing", "$ echo skipped\n") +
		session(` no-test reason="never ends"`, "$ echo skipped\n")
	s := suite(t)
	var prepared []string
	s.Prepare = func(_ *testing.T, b *Block) {
		prepared = append(prepared, b.Attributes["server"])
		b.Text = strings.ReplaceAll(b.Text, "$ echo skipped", "$ echo not skipped")
	}
	if ran := s.Run(t, page); ran != 2 || strings.Join(prepared, "|") != "|A=b,C=d" {
		t.Errorf("%d were run, prepared were %q", ran, prepared)
	}
	if _, err := os.Stat(s.Dir + "/sub/file.txt"); err != nil {
		t.Error(err)
	}
}

// A page that is wrong is an error, and not a page with less in it.
func TestPageIsWrong(t *testing.T) {
	const unknown = "is none of the attributes"
	for page, want := range map[string]string{
		session(" need=something", "$ true\n"):                           "line 1: need=something " + unknown,
		session(" needs=something no-tests", "$ true\n"):                 "line 1: no-tests " + unknown,
		session(" needs = something", "$ true\n"):                        unknown,
		session(` needs="something`, "$ true\n"):                         unknown,
		session(" title=x", "$ true\n"):                                  unknown,
		session(" no-test", "$ true\n"):                                  unknown,
		session(` no-test reason=""`, "$ true\n"):                        unknown,
		session(` reason="never ends"`, "$ true\n"):                      unknown,
		"```text needs=something\n```\n":                                 unknown,
		"text\n" + session(" needs=something,x", "$ true\n"):             `line 2: nobody knows when there is "x"`,
		session("", "$ true\n") + "```console\n$ not closed\n":           "not closed",
		"Here is `a.py`.\n\nAnd another:\n\n```python title=a.py\n```\n": "does not tell the reader that this is a.py",
	} {
		if _, err := suite(t).parse(page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", page, err, want)
		}
	}
}

// An example that no longer tells the truth is an error.
func TestSessionIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"$ echo 42\n42\n$ echo 42\n43\n":    "$ echo 42\nprints:\n42\n\nand the page says:\n43\n",
		"$ echo 42\n":                       "prints:\n42\n",
		"$ true\n42\n":                      "and the page says:\n42\n",
		"$ exit 3\n$ true\n":                "0 of 2 commands ended:\n\nexit status 3",
		"42\n":                              "the session does not begin with a command",
		"$ cat <<'EOF'\nnever\n$ echo 42\n": "EOF",
	} {
		if err := suite(t).session(t.Context(), Block{Text: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
