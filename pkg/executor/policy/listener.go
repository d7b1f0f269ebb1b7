package policy

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Listener takes reports out of what a program writes: an ASCII record separator, the
// nonce, a letter for the kind, records, and a separator again. What is written to a
// pipe cannot be taken back, so a program has no say in what was reported before it
// began. Reports of a program itself may be forged, and accuse nobody but it.
type Listener struct {
	nonce string
	list  List
	// OnBlocked is called with each rule that a report names, in the order in which
	// they come; it may be nil.
	OnBlocked func(rule string)

	mu       sync.Mutex
	findings Findings
	found    map[string]bool
	began    bool
	faults   []string
	taken    int // bytes of reports
}

// NewListener makes a listener to reports with a nonce.
func NewListener(nonce string, list List) *Listener {
	return &Listener{nonce: nonce, list: list, found: map[string]bool{}}
}

// The separators of reports, records and fields.
const (
	reportSeparator = "\x1e"
	recordSeparator = "\x1f"
	fieldSeparator  = "\x1d"
)

// Findings is what was reported so far, and heard whether the interpreter has told
// what it read before the program began.
func (l *Listener) Findings() (findings Findings, heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.findings
	f.Imports = tidy(slices.Clone(f.Imports))
	f.Blocked = slices.Sorted(maps.Keys(l.found))
	return f, l.began
}

// Faults are the syntax errors that were reported.
func (l *Listener) Faults() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.faults)
}

// Writer passes on what is written to it, without the reports. The caller flushes it
// when the stream is over.
func (l *Listener) Writer(w io.Writer) *Writer { return &Writer{listener: l, w: w} }

// Writer is one stream that a [Listener] listens to.
type Writer struct {
	listener *Listener
	w        io.Writer
	held     []byte // what may be the beginning of a report
	searched int    // so much of held has no end of one
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	length := len(b)
	if len(w.held) == 0 && bytes.IndexByte(b, reportSeparator[0]) < 0 {
		return w.w.Write(b)
	}
	w.held = append(w.held, b...)
	plain := w.take(false)
	if len(plain) == 0 {
		return length, nil
	}
	if _, err := w.w.Write(plain); err != nil {
		return 0, err
	}
	return length, nil
}

// Flush passes on what was held back.
func (w *Writer) Flush() error {
	if plain := w.take(true); len(plain) > 0 {
		_, err := w.w.Write(plain)
		return err
	}
	return nil
}

// maxReports bounds reports, and all of them together, in bytes: no program by hand comes near. What
// begins like one afterwards is output, which is counted elsewhere.
const maxReports = 16 << 20

// take counts bytes of reports, and tells whether there may be more.
func (l *Listener) take(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken += n
	return l.taken < maxReports
}

// take removes the reports from what is held, and all that cannot be one. At the end
// of the stream nothing stays.
func (w *Writer) take(end bool) (plain []byte) {
	marker := []byte(reportSeparator + w.listener.nonce)
	for len(w.held) > 0 {
		start := bytes.IndexByte(w.held, reportSeparator[0])
		if start < 0 {
			start = len(w.held)
		}
		plain, w.held = append(plain, w.held[:start]...), w.held[start:]
		whole := len(w.held) >= len(marker)
		if common := min(len(marker), len(w.held)); !bytes.Equal(w.held[:common], marker[:common]) || end && !whole || !w.listener.take(0) {
			n := min(1, len(w.held))
			plain, w.held = append(plain, w.held[:n]...), w.held[n:]
			continue
		}
		if !whole {
			return plain
		}
		from := max(len(marker), w.searched)
		length := bytes.IndexByte(w.held[from:], reportSeparator[0])
		if length < 0 && !end && len(w.held) < maxReports {
			w.searched = len(w.held)
			return plain
		}
		w.searched = 0
		if length < 0 { // it was cut off
			w.listener.take(len(w.held))
			w.held = nil
			return plain
		}
		w.listener.take(len(marker) + length + 1)
		w.listener.hear(string(w.held[len(marker) : from+length]))
		w.held = w.held[from+length+1:]
	}
	w.held = nil
	return plain
}

// hear takes one report.
func (l *Listener) hear(report string) {
	if report == "" {
		return
	}
	kind, records := report[:1], strings.SplitSeq(report[1:], recordSeparator)
	var blocked []string
	l.mu.Lock()
	for record := range records {
		if record == "" && kind != "s" {
			continue
		}
		switch kind {
		case "s", "d": // the rules that what was read breaks, or what was imported
			l.began = l.began || kind == "s"
			if l.list.modules[record] && !l.found[record] {
				l.found[record] = true
				blocked = append(blocked, record)
			}
		case "i":
			l.imported(record)
		case "e":
			if len(l.faults) < maxNames {
				l.faults = append(l.faults, record)
			}
		case "x":
			l.findings.Incomplete = "the check failed: " + clip(record)
		}
	}
	l.mu.Unlock()
	for _, rule := range blocked {
		if l.OnBlocked != nil {
			l.OnBlocked(rule)
		}
	}
}

// imported takes one import: its module, file and line.
func (l *Listener) imported(record string) {
	fields := strings.SplitN(record, fieldSeparator, 3)
	if len(fields) < 3 || len(l.findings.Imports) >= maxNames {
		return
	}
	line, _ := strconv.Atoi(fields[2]) // 0 where it is not known
	i := Import{fields[0], fields[1], line}
	l.findings.Imports = append(l.findings.Imports, i)
	if rule, ok := l.list.Match(i.Module); ok {
		l.found[rule] = true
	}
}
