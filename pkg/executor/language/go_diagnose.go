package language

import (
	"strings"
)

// Diagnose reads the words of the go command and of Go's runtime.
func (goLanguage) Diagnose(phase, stderr string) Diagnosis {
	d := Diagnosis{DiskFull: diskFull(stderr)}
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, line)
		switch {
		case strings.HasPrefix(line, "fatal error: runtime: out of memory"),
			strings.HasPrefix(line, "fatal error: runtime: cannot allocate memory"),
			strings.HasPrefix(line, "fatal error: out of memory"):
			d.OutOfMemory = true
		case strings.HasPrefix(line, "runtime: failed to create new OS thread"),
			strings.Contains(line, "fork/exec ") && strings.HasSuffix(line, ": resource temporarily unavailable"):
			d.NoProcesses = true
		}
	}
	if phase == "run" {
		d.Reason = shorten(goPanic(lines))
	} else {
		d.Reason = shorten(goCompileError(lines))
	}
	return d
}

// goPanic is the last line that the runtime began with panic: or fatal error:.
// What follows one of them are goroutines, and no program prints after that.
func goPanic(lines []string) string {
	reason := ""
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			reason = line
		}
	}
	return reason
}

// goCompileError is the first line that tells something: not the line with the
// name of the package, which for unnamed packages is command-line-arguments.
func goCompileError(lines []string) string {
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "# "), strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "-buildmode=exe requires exactly one main package"):
			return "the package to run is not main: start the file with package main"
		default:
			return strings.TrimPrefix(line, "./")
		}
	}
	return ""
}
