package executor

import (
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// errStreamLimit ends a run whose stream passed the ceiling.
var errStreamLimit = errors.New("the stream ceiling was passed")

// capture takes one stream of a program: every byte goes to the event stream,
// and the head and the tail are kept for the result. A gigabyte of output costs
// no more memory than the cap.
type capture struct {
	kind    api.EventType
	emit    func(api.Event) error
	ceiling int64 // bytes, or 0

	// mu guards what follows: the program writes while others may look.
	mu      sync.Mutex
	total   int64
	head    []byte
	tail    []byte // a ring once it is full
	next    int    // where the ring goes on
	maxHead int
	maxTail int
	pending []byte    // the beginning of a rune whose rest has not come yet
	shown   *keptText // what text has built; nil after each Write
}

// keptText is the kept output as the result carries it.
type keptText struct {
	text, exact string // exact is in base64, and empty when text says it all
	truncated   bool
}

func newCapture(kind api.EventType, emit func(api.Event) error, keep, ceiling int64) *capture {
	return &capture{kind: kind, emit: emit, ceiling: ceiling, maxHead: int(keep - keep/2), maxTail: int(keep / 2)}
}

// Write implements io.Writer.
func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	over := c.ceiling > 0 && c.total+int64(len(b)) > c.ceiling && !fault.Off("limit", "output")
	if over {
		b = b[:c.ceiling-c.total]
	}
	c.total += int64(len(b))
	c.shown = nil
	c.keep(b)
	c.mu.Unlock()
	if err := c.send(b); err != nil {
		return 0, err
	}
	if over {
		return len(b), errStreamLimit
	}
	return len(b), nil
}

func (c *capture) keep(b []byte) {
	if room := c.maxHead - len(c.head); room > 0 {
		n := min(room, len(b))
		c.head = append(c.head, b[:n]...)
		b = b[n:]
	}
	if len(b) > c.maxTail {
		b = b[len(b)-c.maxTail:]
		c.tail, c.next = c.tail[:0], 0
	}
	if room := c.maxTail - len(c.tail); room > 0 {
		n := min(room, len(b))
		c.tail = append(c.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(c.tail[c.next:], b)
		c.next = (c.next + n) % c.maxTail
		b = b[n:]
	}
}

// send emits b, holding back a rune that is cut off at its end.
func (c *capture) send(b []byte) error {
	if len(c.pending) > 0 {
		b = append(c.pending, b...)
		c.pending = nil
	}
	if n := cutRune(b); n > 0 {
		c.pending = append([]byte(nil), b[len(b)-n:]...)
		b = b[:len(b)-n]
	}
	return c.event(b)
}

// flush emits what was held back; the stream is over.
func (c *capture) flush() error {
	b := c.pending
	c.pending = nil
	return c.event(b)
}

func (c *capture) event(b []byte) error {
	if len(b) == 0 || c.emit == nil {
		return nil
	}
	e := api.Event{Type: c.kind}
	if utf8.Valid(b) {
		e.Data = string(b)
	} else {
		e.DataBase64 = base64.StdEncoding.EncodeToString(b)
	}
	return c.emit(e)
}

// cutRune is the length of an unfinished but so far valid rune at the end of b.
func cutRune(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if at := b[len(b)-n:]; utf8.RuneStart(at[0]) {
			if at[0] >= utf8.RuneSelf && !utf8.FullRune(at) {
				return n
			}
			return 0
		}
	}
	return 0
}

// kept is what the result shows: everything, or head and tail with a line
// between that says how much is missing. The caller holds mu.
func (c *capture) kept() (content []byte, truncated bool) {
	tail := append(append([]byte(nil), c.tail[c.next:]...), c.tail[:c.next]...)
	if c.total == int64(len(c.head)+len(tail)) {
		return append(append([]byte(nil), c.head...), tail...), false
	}
	// Runes that the cut has split are left out, not shown as broken.
	head := c.head[:len(c.head)-cutRune(c.head)]
	for n := 0; n < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}
	missing := c.total - int64(len(head)+len(tail))
	content = append(content, head...)
	content = fmt.Appendf(content, "\n[… %d bytes left out …]\n", missing)
	return append(content, tail...), true
}

// text is the kept output as the result carries it: valid UTF-8, and the exact
// bytes in base64 when it was not. It is asked for by the diagnosis, the phase
// and the result, and built once.
func (c *capture) text() (text, exact string, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown == nil {
		b, truncated := c.kept()
		c.shown = &keptText{text: toUTF8(b), truncated: truncated}
		if !utf8.Valid(b) {
			c.shown.exact = base64.StdEncoding.EncodeToString(b)
		}
	}
	return c.shown.text, c.shown.exact, c.shown.truncated
}

// toUTF8 replaces each byte that is no part of a rune by U+FFFD.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]rune, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = append(out, r)
		b = b[n:]
	}
	return string(out)
}
