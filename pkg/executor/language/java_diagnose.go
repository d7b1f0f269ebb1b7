package language

import (
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// javacError is a message of javac about a place in a source file.
var javacError = lazyregexp.New(`^\S.*\.java:\d+: error: `)

// Diagnose reads the words of javac and of the JVM.
func (javaLanguage) Diagnose(phase, stderr string) Diagnosis {
	d := Diagnosis{DiskFull: diskFull(stderr)}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, line)
		switch {
		case strings.Contains(line, "unable to create native thread"), strings.Contains(line, "pthread_create failed (EAGAIN)"),
			strings.HasPrefix(line, "java.io.IOException: Cannot run program") && strings.Contains(line, "error=11,"):
			d.NoProcesses = true
		case isJavaOutOfMemory(line):
			d.OutOfMemory = true
		}
	}
	if phase == "run" {
		d.Reason = shorten(javaException(lines))
	} else {
		d.Reason = shorten(javaCompileError(lines))
	}
	return d
}

// isJavaOutOfMemory recognises the headline of an OutOfMemoryError, and the
// JVM's own complaints when it cannot even reserve its heap.
func isJavaOutOfMemory(line string) bool {
	headline := strings.HasPrefix(line, "java.lang.OutOfMemoryError") || strings.HasPrefix(line, "Caused by: ") ||
		strings.HasPrefix(line, "Exception ") || strings.HasPrefix(line, "Exception: ")
	return headline && strings.Contains(line, "java.lang.OutOfMemoryError") ||
		strings.HasPrefix(line, "# There is insufficient memory for the Java Runtime Environment") ||
		strings.HasPrefix(line, "Terminating due to java.lang.OutOfMemoryError")
}

// javaException is the last Caused by of the last uncaught exception, else its
// headline. A program that prints its own stack trace and exits has no such
// line; then it is the headline of the last trace, or what the launcher said.
func javaException(lines []string) string {
	uncaught, launcher, trace := "", "", ""
	for i, line := range lines {
		followed := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\tat ")
		switch {
		case line == "Error occurred during initialization of VM" && i+1 < len(lines):
			launcher = lines[i+1]
		case strings.HasPrefix(line, `Exception in thread "`):
			uncaught = line
		case strings.HasPrefix(line, "Caused by: "):
			uncaught = line
		case strings.HasPrefix(line, "Error: "), strings.HasPrefix(line, "Exception: java.lang."):
			launcher = line
		case followed && !strings.HasPrefix(line, "\t") && line != "":
			trace = line
		}
	}
	switch {
	case uncaught != "":
		return uncaught
	case launcher != "":
		return launcher
	}
	return trace
}

// javaCompileError is the first error about a source file, else the first error
// at all. Where javac wants a flag, it is told how to give it here.
func javaCompileError(lines []string) string {
	first := ""
	for _, line := range lines {
		if javacError().MatchString(line) {
			first = line
			break
		}
		if first == "" && (strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "java.lang.OutOfMemoryError")) {
			first = line
		}
	}
	if strings.Contains(first, "preview") && strings.Contains(first, "disabled by default") {
		first += " Add the comment // " + previewFlag
	}
	return first
}
