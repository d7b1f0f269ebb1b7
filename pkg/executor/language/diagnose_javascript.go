package language

import (
	"regexp"
	"strings"
)

// Diagnose quotes the first line that is an error.
func (javascript) Diagnose(_ string, stderr string) Diagnosis { return diagnoseNode(stderr) }

func diagnoseNode(stderr string) Diagnosis {
	d := Diagnosis{
		Reason:      nodeReason(stderr),
		DiskFull:    diskFull(stderr) || strings.Contains(stderr, "ENOSPC") || strings.Contains(stderr, "EDQUOT"),
		NoProcesses: regexp.MustCompile(`(?i)(?:spawn|fork|worker|thread).*EAGAIN|ERR_WORKER_INIT_FAILED`).MatchString(stderr), // and no file that does not block
		SyntaxError: isNodeSyntaxError(stderr),
	}
	fatal := regexp.MustCompile(`(?m)^(?:# )?(?:FATAL ERROR: .* out of memory|Fatal .*out of memory.*)$`)
	if line := fatal.FindString(stderr); line != "" {
		d.OutOfMemory = true
		d.Reason = shorten(strings.TrimPrefix(line, "# "))
	}
	return d
}

// nodeReason is the first line such as "TypeError: x is not a function" or
// "Error [ERR_X]: …", else the value that was thrown, without Node's own
// remarks around it.
func nodeReason(stderr string) string {
	named := regexp.MustCompile(`(?m)^(?:Uncaught )?(?:[\w$.]*(?:Error|Rejection|Exception)(?: \[\w+\])?(?:: .*)?)$`)
	if line := named.FindString(stderr); line != "" {
		return shorten(line)
	}
	remarks := regexp.MustCompile("(?m)^(?:Node\\.js v\\S+|\\(Use `node --trace.*)$")
	return shorten(lastLine(remarks.ReplaceAllString(stderr, "")))
}

// isNodeSyntaxError tells whether Node refused to parse a source before any of
// the program ran. Then the first thing on stderr, but for warnings of Node's
// own, is the place, and no frame of the stack is the user's: JSON.parse, eval
// and require add one.
func isNodeSyntaxError(stderr string) bool {
	text := regexp.MustCompile(`(?m)^\(node:\d+\) .*\n(?:\(Use .*\n)?`).ReplaceAllString(stderr, "")
	if !regexp.MustCompile(`^(?:file://)?/.*:\d+$`).MatchString(firstLine(text)) {
		return false
	}
	at := regexp.MustCompile(`(?m)^SyntaxError: .*$`).FindStringIndex(text)
	if at == nil {
		return false
	}
	for _, frame := range regexp.MustCompile(`(?m)^ {4}at .*$`).FindAllString(text[at[1]:], -1) {
		if !strings.Contains(frame, "node:") {
			return false
		}
	}
	return true
}
