package executor

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// recorder is the far end of a capture: it glues the events together again.
type recorder struct {
	bytes  []byte
	events []api.Event
}

func (r *recorder) emit(e api.Event) error {
	r.events = append(r.events, e)
	r.bytes = append(r.bytes, eventBytes(e)...)
	return nil
}

func eventBytes(e api.Event) []byte {
	if e.DataBase64 == "" {
		return []byte(e.Data)
	}
	b, err := base64.StdEncoding.DecodeString(e.DataBase64)
	if err != nil {
		panic(err)
	}
	return b
}

// writeSplit writes b in pieces of the given sizes, over and over.
func writeSplit(t interface{ Fatalf(string, ...any) }, c *capture, b []byte, sizes []byte) {
	for i := 0; len(b) > 0; i++ {
		n := len(b)
		if len(sizes) > 0 {
			n = min(len(b), int(sizes[i%len(sizes)])+1)
		}
		if wrote, err := c.Write(b[:n]); wrote != n || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", n, wrote, err)
		}
		b = b[n:]
	}
	if err := c.flush(); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

// checkCapture holds one way of splitting content against every promise.
func checkCapture(t interface{ Fatalf(string, ...any) }, content, sizes []byte, keep int64) {
	var got recorder
	c := newCapture(api.EventStdout, got.emit, keep, 0)
	writeSplit(t, c, content, sizes)
	if !bytes.Equal(got.bytes, content) {
		t.Fatalf("the events hold %q, want %q", got.bytes, content)
	}
	for _, e := range got.events {
		if !utf8.ValidString(e.Data) || (e.Data == "") == (e.DataBase64 == "") {
			t.Fatalf("event %+v: want valid UTF-8 or base64, and one of them", e)
		}
		if utf8.Valid(content) && e.DataBase64 != "" {
			t.Fatalf("a rune of valid text was split: %q", eventBytes(e))
		}
	}
	checkKept(t, c, content, keep)
}

func checkKept(t interface{ Fatalf(string, ...any) }, c *capture, content []byte, keep int64) {
	kept, truncated := c.kept()
	if !truncated {
		if !bytes.Equal(kept, content) {
			t.Fatalf("kept %q of %q without saying so", kept, content)
		}
		return
	}
	if int64(len(content)) <= keep {
		t.Fatalf("%d bytes were truncated at a cap of %d", len(content), keep)
	}
	head, tail, missing := splitKept(t, kept, content)
	if int64(len(head)+len(tail)) > keep || len(head)+len(tail)+missing != len(content) {
		t.Fatalf("head %d, tail %d, missing %d of %d with a cap of %d", len(head), len(tail), missing, len(content), keep)
	}
	if utf8.Valid(content) && !utf8.Valid(kept) {
		t.Fatalf("the cut split a rune: %q", kept)
	}
	// At most an unfinished rune is lost on each side of the cut.
	if lost := keep - int64(len(head)+len(tail)); lost > 2*utf8.UTFMax {
		t.Fatalf("the cut lost %d bytes", lost)
	}
}

// splitKept finds the marker whose number fits; content may hold look-alikes.
func splitKept(t interface{ Fatalf(string, ...any) }, kept, content []byte) (head, tail []byte, missing int) {
	for at := range kept {
		if _, err := fmt.Sscanf(string(kept[at:]), "\n[… %d bytes left out …]\n", &missing); err != nil {
			continue
		}
		marker := fmt.Sprintf("\n[… %d bytes left out …]\n", missing)
		tail, ok := bytes.CutPrefix(kept[at:], []byte(marker))
		if ok && bytes.HasPrefix(content, kept[:at]) && bytes.HasSuffix(content, tail) {
			return kept[:at], tail, missing
		}
	}
	t.Fatalf("%q is no head, marker and tail", kept)
	return nil, nil, 0
}

func TestCaptureKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringN(0, 200, 400).Draw(t, "text"))
		noise := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "noise")
		content := append(append(append([]byte(nil), text...), noise...), text...)
		sizes := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "sizes")
		checkCapture(t, content, sizes, rapid.Int64Range(0, 600).Draw(t, "keep"))
		checkCapture(t, text, sizes, rapid.Int64Range(0, 300).Draw(t, "keepText"))
	})
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("héllo 你好 🦀"), []byte{0}, uint16(7))
	f.Add([]byte{0xf0, 0x9f, 0xa6, 0x80, 0x80, 0xff, 0xc3}, []byte{0, 1}, uint16(3))
	f.Add([]byte("\n[… 5 bytes left out …]\nabc"), []byte{2}, uint16(4))
	f.Fuzz(func(t *testing.T, content, sizes []byte, keep uint16) {
		checkCapture(t, content, sizes, int64(keep))
	})
}

func TestCaptureSplitRuneComesWhole(t *testing.T) {
	var got recorder
	c := newCapture(api.EventStderr, got.emit, 100, 0)
	for _, b := range []byte("🦀x") {
		_, _ = c.Write([]byte{b})
	}
	if len(got.events) != 2 || got.events[0].Data != "🦀" || got.events[1].Data != "x" || got.events[0].Type != api.EventStderr {
		t.Errorf("events %+v, want the whole rune and then the letter", got.events)
	}
}

func TestCaptureUnfinishedRuneIsFlushed(t *testing.T) {
	var got recorder
	c := newCapture(api.EventStdout, got.emit, 100, 0)
	_, _ = c.Write([]byte("a\xe4\xbd"))
	if string(got.bytes) != "a" {
		t.Fatalf("before the end %q was sent, want only what is whole", got.bytes)
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	if string(got.bytes) != "a\xe4\xbd" || got.events[1].DataBase64 == "" {
		t.Errorf("events %+v, want the rest in base64", got.events)
	}
}

func TestCaptureCeilingIsExact(t *testing.T) {
	for _, pieces := range [][]int{{10}, {11}, {4, 6}, {4, 7}, {10, 1}, {9, 5}, {30}, {3, 3, 3, 3}} {
		t.Run(fmt.Sprint(pieces), func(t *testing.T) {
			var got recorder
			c := newCapture(api.EventStdout, got.emit, 100, 10)
			total, failed := 0, false
			for _, n := range pieces {
				total += n
				_, err := c.Write(bytes.Repeat([]byte("x"), n))
				if (err != nil) != (total > 10) || err != nil && !errors.Is(err, errStreamLimit) {
					t.Fatalf("after %d bytes: %v", total, err)
				}
				failed = failed || err != nil
			}
			if failed != (total > 10) || len(got.bytes) != min(total, 10) {
				t.Errorf("%d bytes were sent, want %d", len(got.bytes), min(total, 10))
			}
			if kept, truncated := c.kept(); truncated || len(kept) != min(total, 10) {
				t.Errorf("kept %d bytes, truncated %v", len(kept), truncated)
			}
		})
	}
}

func TestCaptureSinkError(t *testing.T) {
	gone := errors.New("the reader is gone")
	c := newCapture(api.EventStdout, func(api.Event) error { return gone }, 100, 0)
	if _, err := c.Write([]byte("hello")); !errors.Is(err, gone) {
		t.Fatalf("error %v, want the sink's", err)
	}
	if kept, _ := c.kept(); string(kept) != "hello" {
		t.Errorf("kept %q: what was written is in the result all the same", kept)
	}
}

func TestCaptureHoldsNoMoreThanTheCap(t *testing.T) {
	c := newCapture(api.EventStdout, nil, 1000, 0)
	block := bytes.Repeat([]byte("0123456789"), 10_000)
	for range 100 {
		_, _ = c.Write(block)
	}
	if held := cap(c.head) + cap(c.tail) + cap(c.pending); held > 4096 {
		t.Errorf("%d bytes are held for a cap of 1000", held)
	}
	if kept, truncated := c.kept(); !truncated || !strings.Contains(string(kept), "9999000 bytes left out") {
		t.Errorf("kept %q", kept)
	}
}

func TestCaptureCapOfAnySize(t *testing.T) {
	for _, keep := range []int64{0, 1, 2, math.MaxInt64} {
		c := newCapture(api.EventStdout, nil, keep, 0)
		_, _ = c.Write([]byte("abc"))
		_, _ = c.Write([]byte("def"))
		checkKept(t, c, []byte("abcdef"), keep)
	}
}

func TestCaptureText(t *testing.T) {
	for _, tc := range []struct{ in, text, exact string }{
		{"", "", ""},
		{"héllo", "héllo", ""},
		{"a\xffb\xc3", "a\uFFFDb\uFFFD", "Yf9iww=="},
		{"\x00", "\x00", ""},
	} {
		c := newCapture(api.EventStdout, nil, 100, 0)
		_, _ = c.Write([]byte(tc.in))
		if text, exact, cut := c.text(); text != tc.text || exact != tc.exact || cut {
			t.Errorf("%q: text %q, base64 %q, truncated %v; want %q, %q", tc.in, text, exact, cut, tc.text, tc.exact)
		}
	}
}

// The text is built once, and again when more was written.
func TestCaptureTextIsBuiltOnce(t *testing.T) {
	c := newCapture(api.EventStdout, nil, 100, 0)
	_, _ = c.Write([]byte("a\xff"))
	if n := testing.AllocsPerRun(10, func() { _, _, _ = c.text() }); n != 0 {
		t.Errorf("%v allocations for a text that was built before", n)
	}
	_, _ = c.Write([]byte("b"))
	if text, exact, _ := c.text(); text != "a\uFFFDb" || exact != "Yf9i" {
		t.Errorf("text %q, base64 %q", text, exact)
	}
}

func TestToUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		got := toUTF8(b)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid UTF-8", got)
		}
		if want := string([]rune(string(b))); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestCutRune(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "é": 0, "🦀": 0,
		"a\xc3": 1, "\xe4\xbd": 2, "\xf0\x9f\xa6": 3, "\xe4": 1, "x\xf0\x9f": 2,
		"\xff": 0, "\x80": 0, "\x80\x80\x80": 0, "\xc0": 0, // not valid so far
		"é\x80": 0, "\xe4\xbda": 0,
	} {
		if got := cutRune([]byte(in)); got != want {
			t.Errorf("cutRune(%q) = %d, want %d", in, got, want)
		}
	}
}

// TestCutRuneModel: what is cut off is the shortest end that some further bytes
// would make a rune.
func TestCutRuneModel(t *testing.T) {
	completions := [][]byte{{0x80}, {0x80, 0x80}, {0x80, 0x80, 0x80}, {0xbf}, {0xbf, 0xbf}, {0xbf, 0xbf, 0xbf}, {0x90, 0x80, 0x80}, {0x90, 0x80}, {0xa0, 0x80}}
	model := func(b []byte) int {
		for n := 1; n <= min(3, len(b)); n++ {
			for _, end := range completions {
				whole := append(append([]byte(nil), b[len(b)-n:]...), end...)
				if r, size := utf8.DecodeRune(whole); size == len(whole) && r != utf8.RuneError {
					return n
				}
			}
		}
		return 0
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{'a', 0x80, 0x90, 0xa0, 0xbf, 0xc1, 0xc3, 0xe0, 0xe4, 0xed, 0xf0, 0xf4, 0xf5, 0xff}), 0, 6).Draw(t, "bytes")
		if got, want := cutRune(b), model(b); got != want {
			t.Fatalf("cutRune(%x) = %d, want %d", b, got, want)
		}
	})
}
