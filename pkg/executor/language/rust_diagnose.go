package language

import (
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// rustPanic is the headline of a panic. Until Rust 1.72 the message stood in it,
// in quotes, before the position; since then it follows on the next line, and
// since 1.90 the thread's id is named too.
var rustPanic = lazyregexp.New(`^thread '.*' (?:\(\d+\) )?panicked at (.+)$`)

// rustOldPanic is how it went on before Rust 1.73: the words first, then the place.
var rustOldPanic = lazyregexp.New(`^'(.*)', (\S+:\d+:\d+)$`)

// Diagnose reads the words of rustc, cargo and Rust's runtime.
func (rustLanguage) Diagnose(phase, stderr string) Diagnosis {
	d := Diagnosis{DiskFull: diskFull(stderr)}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, line)
		switch {
		case strings.HasPrefix(line, "memory allocation of ") && strings.Contains(line, " bytes failed"),
			strings.HasPrefix(line, "rustc-LLVM ERROR: out of memory"):
			d.OutOfMemory = true
		case strings.Contains(line, "Os { code: 11, "): // a thread or a process (EAGAIN)
			d.NoProcesses = true
		}
	}
	if phase == "run" {
		d.Reason = shorten(rustFailure(lines))
	} else {
		d.Reason = shorten(rustCompileError(lines))
	}
	return d
}

// rustFailure is the words after panicked at of the last panic, else the
// runtime's last words. When the main thread panics only because it joined
// another that did, which it knows as Any { .. }, the one before it is meant.
func rustFailure(lines []string) string {
	panicked, last := "", ""
	for i, line := range lines {
		if match := rustPanic().FindStringSubmatch(line); match != nil {
			words := match[1]
			if old := rustOldPanic().FindStringSubmatch(words); old != nil {
				words = old[2] + ": " + old[1]
			}
			if strings.HasSuffix(words, ":") && i+1 < len(lines) {
				words += " " + lines[i+1]
			}
			if panicked == "" || !strings.Contains(words, "Any { .. }") {
				panicked = words
			}
		}
		if isRustLastWord(line) {
			last = line
		}
	}
	if last != "" && panicked == "" {
		return last
	}
	return panicked
}

// isRustLastWord recognises what the runtime says when a program ends without a
// panic: an Err from main, an overflowing stack, no memory.
func isRustLastWord(line string) bool {
	return strings.HasPrefix(line, "Error: ") ||
		strings.HasPrefix(line, "thread '") && strings.HasSuffix(line, "has overflowed its stack") ||
		strings.HasPrefix(line, "memory allocation of ")
}

// rustCompileError is the first error.
func rustCompileError(lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "error[") {
			return line
		}
	}
	return ""
}
