// Package secret keeps keys of services out of logs, results and error messages.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"os"
	"strings"
)

// Value is a value that does not show itself: every way to print it, or to turn it
// into JSON, says redacted. The zero Value is none.
type Value struct{ text string }

// New wraps a value, without the white space around it.
func New(text string) Value { return Value{strings.TrimSpace(text)} }

// maxBytes is far more than any key has.
const maxBytes = 4 << 10

// Read reads a file that holds a value and nothing else.
func Read(name string) (Value, error) {
	f, err := os.Open(name)
	if err != nil {
		return Value{}, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	return New(string(content)), err
}

// IsZero tells whether there is no value.
func (v Value) IsZero() bool { return v.text == "" }

// Equal tells whether two values are the same, in a time that does not tell how far
// they are.
func (v Value) Equal(other Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.text), []byte(other.text)) == 1
}

// Reveal is the value itself, for whom it is meant.
func (v Value) Reveal() string { return v.text }

// Sendable tells whether the value can be a header of HTTP: printable ASCII without
// white space, and no longer than keys are.
func (v Value) Sendable() bool {
	return len(v.text) <= maxBytes && !strings.ContainsFunc(v.text, func(r rune) bool { return r <= ' ' || r > '~' })
}

const redacted = "[redacted]"

func (Value) String() string { return redacted }

// Format implements [fmt.Formatter] for every verb and flag.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements [encoding.TextMarshaler], for JSON, YAML and slog.
func (Value) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Scrub takes the value out of what others say.
func (v Value) Scrub(text string) string {
	if v.text == "" {
		return text
	}
	return strings.ReplaceAll(text, v.text, redacted)
}
