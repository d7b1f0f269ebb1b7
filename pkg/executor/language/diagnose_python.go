package language

import (
	"path"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// Diagnose quotes the last line, which is where Python puts the exception.
func (python) Diagnose(_ string, stderr string) Diagnosis {
	d := Diagnosis{
		Reason:      shorten(lastLine(stderr)),
		OutOfMemory: isException(lastLine(stderr), "MemoryError"),
		DiskFull:    diskFull(stderr) || strings.Contains(stderr, "[Errno 122]"), // EDQUOT
		// Files that do not block fail with the same number.
		NoProcesses: strings.Contains(stderr, "can't start new thread") || strings.Contains(stderr, "BlockingIOError: [Errno 11]") && (strings.Contains(stderr, "fork") || strings.Contains(stderr, "spawn")),
	}
	if details, ok := pythonSyntaxError(stderr); ok {
		d.SyntaxError = true
		d.Reason = shorten(details)
	}
	return d
}

// isException tells whether a line is an exception of one of these types.
func isException(line string, types ...string) bool {
	name, _, _ := strings.Cut(line, ":")
	for _, t := range types {
		if name == t {
			return true
		}
	}
	return false
}

// pythonFrame is a line of a traceback, with the file, the line, and the function but at the top.
var pythonFrame = lazyregexp.New(`(?m)^  File "(.*)", line (\d+)(, in .*)?$`)

// pythonSyntaxError tells whether the parser refused the main file, and words
// it as str(SyntaxError) does: invalid syntax (main.py, line 3).
//
// Then nothing of the user's has run. For a file there is no traceback but the
// place alone; for a package run by -m there is one with no frame but those of
// Python's own start. An error in an imported module, or of exec and ast.parse,
// comes with a frame of the user's.
func pythonSyntaxError(stderr string) (details string, ok bool) {
	last := lastLine(stderr)
	_, message, found := strings.Cut(last, ": ")
	if !found || !isException(last, "SyntaxError", "IndentationError", "TabError") {
		return "", false
	}
	if strings.HasPrefix(message, "Non-UTF-8 code ") || strings.HasPrefix(message, "encoding problem: ") { // come without a place
		return message, !strings.Contains(stderr, "\nTraceback (most") && !strings.HasPrefix(stderr, "Traceback (most")
	}
	frames := pythonFrame().FindAllStringSubmatch(stderr, -1)
	if len(frames) == 0 {
		return "", false
	}
	place := frames[len(frames)-1]
	if place[3] != "" {
		return "", false
	}
	for _, f := range frames[:len(frames)-1] {
		if !strings.HasPrefix(f[1], "<frozen ") && path.Base(f[1]) != "runpy.py" {
			return "", false
		}
	}
	return message + " (" + path.Base(place[1]) + ", line " + place[2] + ")", true
}
