package stdio

import (
	"strings"
	"sync"
)

// tailSize is how much a [Tail] keeps: the last few lines, however long they are.
const tailSize = 4 << 10

// Tail keeps the end of what is written to it, for a person to read when something
// has failed. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer]; it never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(b), nil
}

// String is the text, without space around it.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

// LastLine is what a person would quote.
func (t *Tail) LastLine() string {
	s := t.String()
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
