package policy

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestListener(t *testing.T) {
	for _, c := range []struct{ name, written, passed, blocked string }{
		{"nothing", "hello", "hello", ""},
		{"a report", "a\x1eNsos\x1fnet\x1eb", "ab", "net os"},
		{"several", "\x1eNs\x1eout\x1eNdos\x1e", "out", "os"},
		{"another nonce", "\x1eMsos\x1e", "\x1eMsos\x1e", ""},
		{"a separator alone", "a\x1e", "a\x1e", ""},
		{"separators", "\x1e\x1e\x1eNdos\x1e\x1e", "\x1e\x1e\x1e", "os"},
		{"cut off", "a\x1eNdo", "a", ""},
		{"no rule", "\x1eNsxyz\x1e", "", ""},
		{"of an unknown kind", "\x1eN?os\x1e\x1eN\x1e", "", ""},
		{"imports", "\x1eNios\x1dmain.py\x1d3\x1fjson\x1dx\x1dy\x1fbroken\x1e", "", "os"},
	} {
		for size := 1; size <= len(c.written); size++ {
			l := NewListener("N", NewList("python", ruleList("os", "net")))
			var passed bytes.Buffer
			w := l.Writer(&passed)
			for chunk := range slices.Chunk([]byte(c.written), size) {
				if n, err := w.Write(chunk); n != len(chunk) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			found, _ := l.Findings()
			if passed.String() != c.passed || strings.Join(found.Blocked, " ") != c.blocked {
				t.Errorf("%s, %d bytes at a time: passed %q, blocked %q", c.name, size, passed.String(), found.Blocked)
			}
		}
	}
}

func ruleList(names ...string) []Rule {
	var rules []Rule
	for _, name := range names {
		rules = append(rules, Rule{"", name})
	}
	return rules
}

func TestListenerHears(t *testing.T) {
	l := NewListener("N", NewList("python", ruleList("os")))
	w := l.Writer(&bytes.Buffer{})
	if _, heard := l.Findings(); heard {
		t.Error("nothing was said yet")
	}
	_, _ = w.Write([]byte("\x1eNdos\x1e\x1eNebad (x, line 1)\x1e\x1eNxno\x1e\x1eNios\x1da\x1d2\x1e"))
	if _, heard := l.Findings(); heard {
		t.Error("it is not known yet what the interpreter has read")
	}
	_, _ = w.Write([]byte("\x1eNs\x1e"))
	found, heard := l.Findings()
	if !heard || found.Incomplete != "the check failed: no" || !slices.Equal(found.Imports, []Import{{"os", "a", 2}}) || !slices.Equal(l.Faults(), []string{"bad (x, line 1)"}) {
		t.Errorf("%+v %v %q", found, heard, l.Faults())
	}
}

// Whatever is written and however it is cut, what is no report is passed on.
func FuzzListener(f *testing.F) {
	f.Add([]byte("a\x1eNsos\x1eb"), 3)
	f.Fuzz(func(t *testing.T, written []byte, size int) {
		var passed bytes.Buffer
		l := NewListener("N", NewList("python", ruleList("os")))
		w := l.Writer(&passed)
		for chunk := range slices.Chunk(written, max(size, 1)) {
			_, _ = w.Write(chunk)
		}
		_ = w.Flush()
		if plain := !bytes.Contains(written, []byte("\x1eN")); plain && !bytes.Equal(passed.Bytes(), written) {
			t.Errorf("%q became %q", written, passed.Bytes())
		}
	})
}

// A program that forges reports for ever fills its output with them, and not our memory.
func TestListenerRemembersSoMuch(t *testing.T) {
	for name, report := range map[string]string{
		"faults":          "\x1eNe" + strings.Repeat("a", 1<<20) + "\x1e",
		"small faults":    "\x1eNe" + strings.Repeat("a\x1f", 1<<19) + "\x1e",
		"imports":         "\x1eNi" + strings.Repeat("a", 1<<20) + "\x1dmain.py\x1d3\x1e",
		"of no kind":      "\x1eN?" + strings.Repeat("a", 1<<20) + "\x1e",
		"without an end":  "\x1eNe" + strings.Repeat("a", 17<<20),
		"what it imports": "\x1eNd" + strings.Repeat("os\x1f", 1<<18) + "\x1e",
	} {
		t.Run(name, func(t *testing.T) {
			l := NewListener("N", NewList("python", ruleList("os", "net")))
			var passed, written int
			w := l.Writer(counter{&passed})
			for written < 64<<20 {
				n, err := w.Write([]byte(report))
				if written += n; err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if missing := written - passed; missing > maxReports+len(report) {
				t.Errorf("%d MiB were taken for reports", missing>>20)
			}
			if n := len(l.Faults()); n > maxNames {
				t.Errorf("%d faults are remembered", n)
			}
		})
	}
}

// counter counts what is written to it.
type counter struct{ bytes *int }

func (c counter) Write(p []byte) (int, error) {
	*c.bytes += len(p)
	return len(p), nil
}
