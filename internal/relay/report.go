package relay

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Report is what has happened since the one before.
type Report struct {
	// Violations are what a rule denied, a line each, with the rule.
	Violations []string
	// Failures are what was allowed and did not work: a host that is down, a
	// proxy that said no. The program was only told that its connection ended.
	Failures []string
	// Queries are the names that were resolved although they are not allowed
	// ([Rules.AllowDNS]).
	Queries []string
	// Connections are those that were made, and the bytes are those of
	// connections that have ended and of what others had carried when they were
	// last looked at.
	Connections, BytesSent, BytesReceived int64
}

// maxLines is how many different lines a report has of a kind.
const maxLines = 100

// Report tells what has happened since the last call, or since New. A program
// that has just ended may have left a connection that is not accepted yet, and
// so not told of.
func (r *Relay) Report() Report {
	return Report{
		Violations:    r.violations.take(),
		Failures:      r.failures.take(),
		Queries:       r.queries.take(),
		Connections:   r.connections.Swap(0),
		BytesSent:     r.sent.Swap(0),
		BytesReceived: r.received.Swap(0),
	}
}

// lines are notes, each once, with how often it came.
type lines struct {
	limit int // of different ones; the rest is counted

	mu    sync.Mutex
	order []string
	count map[string]int
	more  int
}

func (l *lines) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.count[line] > 0:
		l.count[line]++
	case len(l.order) >= l.limit && !fault.Off("relay", "lines of a report"):
		l.more++
	default:
		if l.count == nil {
			l.count = map[string]int{}
		}
		l.count[line] = 1
		l.order = append(l.order, line)
	}
}

func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, line := range l.order {
		if n := l.count[line]; n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		list = append(list, line)
	}
	if l.more > 0 {
		list = append(list, fmt.Sprintf("and %d more", l.more))
	}
	l.order, l.count, l.more = nil, nil, 0
	return list
}

// quote makes a name that a program chose safe to print: it cannot end a line,
// or move a terminal's cursor. Plain names stay as they are.
func quote(name string) string {
	plain := strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	})
	if plain < 0 && name != "" {
		return name
	}
	return strconv.QuoteToASCII(name)
}
